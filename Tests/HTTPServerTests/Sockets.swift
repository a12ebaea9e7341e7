import Glibc

/// Tells the server that nothing more comes.
func shutdown(_ client: RawClient) {
    _ = Glibc.shutdown(client.descriptor, Int32(SHUT_WR))
}
