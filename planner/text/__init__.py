"""Text of others, as terminals, spreadsheets and Markdown readers are given it."""
