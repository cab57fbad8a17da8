// SPDX-License-Identifier: MIT OR GPL-2.0-only
// A program in Rust whose stacks are known; as truth.cc.
use std::time::{Duration, Instant};

// What the compiler does not see through. Older ones than 1.66 have no black_box().
#[inline(always)]
fn opaque(value: u64) -> u64 {
    unsafe { std::ptr::read_volatile(&value) }
}

mod truth {
    #[inline(always)]
    fn turn(times: u64) -> u64 {
        (0..times).fold(0, |sum, n| super::opaque(sum ^ n)) // here: turn
    }

    pub struct Thing<T>(pub T);

    impl<T: Copy + Into<u64>> Thing<T> {
        #[inline(never)]
        pub fn work(&self) -> u64 {
            turn(100_000 + self.0.into()) // here: work
        }
    }
}

#[inline(never)]
fn outer(end: Instant) -> u64 {
    let mut sum = 0;
    while Instant::now() < end {
        sum += truth::Thing(opaque(7) as u8).work(); // here: outer
    }
    sum
}

fn main() {
    let ms = std::env::args().nth(1).map_or(0, |a| a.parse().unwrap());
    std::process::exit((outer(Instant::now() + Duration::from_millis(ms)) & 0) as i32);
}
