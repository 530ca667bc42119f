//! The prompt: rubric, engagement and output contract.
