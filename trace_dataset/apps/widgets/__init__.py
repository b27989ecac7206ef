"""What every Space's page is made of. Copied into the Spaces of metrics and of the leaderboard, so it imports only itself."""
