"""SharePoint Online and OneDrive as a source, by Microsoft Graph."""
