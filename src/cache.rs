//! What a provider keeps warm: its prices ([`profile`]), whether rewriting a cached prefix pays ([`fold`]), and where a prefix
//! that can be read again should end ([`breakpoints`]). [`model`] plays the provider.

pub mod breakpoints;
pub mod fold;
pub mod model;
pub mod profile;
