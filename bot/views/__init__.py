"""App Home, modals, buttons and the slash command."""
