"""What goals add to the linear system: errors, and the rows of the Jacobian that reduce them."""
