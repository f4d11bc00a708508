"""What people and agents keep, pin, correct and forget themselves; above retain and recall, whose work it uses."""
