"""What looks on or measures: profiles, tuning, groups of backends; downloads."""
