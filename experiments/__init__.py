"""What was asked, and how was it measured? One file, one question, one folder of records."""
