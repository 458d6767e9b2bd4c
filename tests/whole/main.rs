//! The whole of it, server and clients, in virtual time.

mod hostile;
mod noise;
