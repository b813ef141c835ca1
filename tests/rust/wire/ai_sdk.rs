//! Model messages of the AI SDK, what is particular to them. Laws and cases run on them through their [`twin`](crate::twin::ai_sdk).

mod shapes;
