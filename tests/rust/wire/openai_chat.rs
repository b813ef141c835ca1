//! `wire::openai_chat`: what the provider takes. The laws are held over this format everywhere else.

pub mod validator;
