//! Protection against SSRF: distinguishes public addresses from addresses of machines or internal networks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns true for an address of the public internet. Returns false for loopback, private, link-local (where clouds
/// serve the credentials of a machine), shared, multicast, reserved and unspecified addresses, even if an IPv6 address
/// only wraps them.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => is_public_v4(it),
        IpAddr::V6(it) => is_public_v6(it),
    }
}

fn is_public_v4(it: Ipv4Addr) -> bool {
    let [first, second, third, _] = it.octets();
    let is_inside = it.is_loopback()
        || it.is_private()
        || it.is_link_local()
        || it.is_unspecified()
        || it.is_broadcast()
        || it.is_multicast()
        || it.is_documentation();
    // "This network", carrier-grade NAT, special uses, benchmarking, reserved.
    let is_special = first == 0
        || (first == 100 && (64..128).contains(&second))
        || (first == 192 && second == 0 && third == 0)
        || (first == 192 && second == 88 && third == 99)
        || (first == 198 && (18..20).contains(&second))
        || first >= 240;
    !is_inside && !is_special
}

fn is_public_v6(it: Ipv6Addr) -> bool {
    let parts = it.segments();
    let v4 = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // Mapped IPv4, and NAT64 with the well-known prefix.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low),
        // 6to4.
        [0x2002, high, low, ..] => v4(high, low),
        // Teredo, benchmarking, ORCHID and the other special uses below 2001:200::, and documentation.
        [0x2001, second, ..] => second >= 0x200 && second != 0x0db8,
        // All other public addresses are in 2000::/3, without loopback, unspecified, unique local and link-local
        // addresses.
        [first, ..] => (0x2000..0x3fff).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_addresses_are_not_public() {
        for address in [
            "127.0.0.1",
            "127.255.1.2",
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.100.100.200",
            "192.0.0.192",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::a9fe:a9fe",
            "2002:7f00:1::",
            "2001:0:7f00:1::",
            "2001:db8::1",
            "fd00:ec2::254",
            "fc00::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "3fff::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn addresses_of_the_internet_are_public() {
        for address in [
            "1.1.1.1",
            "93.184.216.34",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "::ffff:1.1.1.1",
            "64:ff9b::101:101",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }
}
