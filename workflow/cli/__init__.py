"""What people call; what rules call is in workflow/scripts."""
