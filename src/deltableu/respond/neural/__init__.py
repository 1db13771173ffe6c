"""Neural responders: logged conversations in, models out; messages in, responses out."""
