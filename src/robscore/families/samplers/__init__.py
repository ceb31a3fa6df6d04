"""Ways to draw rows, which families choose from."""
