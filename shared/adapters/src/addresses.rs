//! Which addresses belong to the internet, and not to a machine or a network inside.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Says whether an address is one of the public internet: not loopback, private, link-local (where clouds keep the credentials
/// of a machine), shared, multicast, reserved or unspecified, also where IPv6 only wraps it.
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
    // "This network", shared by providers, special uses, measuring, reserved.
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
        // Mapped IPv4, and NAT64 of the well-known prefix.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low),
        // 6to4.
        [0x2002, high, low, ..] => v4(high, low),
        // Teredo, benchmarks, ORCHID and the other special uses below 2001:200::, and documentation.
        [0x2001, second, ..] => second >= 0x200 && second != 0x0db8,
        // The rest of what is given out to the internet is 2000::/3: neither loopback, unspecified, unique local nor link-local.
        [first, ..] => (0x2000..0x3fff).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_inside_are_not_public() {
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
