"""The pump that moves records through the stages."""
