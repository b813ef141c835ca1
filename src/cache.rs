//! What a provider keeps warm: its prices ([`profile`]), whether rewriting a cached prefix pays ([`fold`]), and where a prefix
//! that can be read again should end ([`breakpoints`]).

pub mod breakpoints;
pub mod fold;
pub mod profile;
