"""Foreign text made safe for terminals, spreadsheets and Markdown readers."""
