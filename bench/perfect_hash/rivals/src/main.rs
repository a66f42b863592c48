// SPDX-License-Identifier: Apache-2.0
//! Builds and queries perfect hash functions of other projects for perfect_hash_bench.
//!
//! A line "NAME KEYS SEED SORTED" on standard input is answered by a line
//! "BITS BUILD_NS QUERY_NS BATCH_NS" (per key; the batch is -1 where there is none) or "unknown".
//! The keys are those of the bench: numbers of one sequence, in its order or ascending. One thread;
//! times are of the process's CPU clock.
use std::hint::black_box;
use std::io::{BufRead, Write};

use ph::GetSize;
use ptr_hash::{bucket_fn::Linear, DefaultPtrHash, PtrHashParams};

fn split_mix(seed: u64, i: u64) -> u64 {
    let mut z = seed.wrapping_add((i + 1).wrapping_mul(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
    z ^ (z >> 31)
}

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanos: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

fn cpu_nanos() -> f64 {
    const CLOCK_PROCESS_CPUTIME_ID: i32 = 2;
    let mut t = Timespec { seconds: 0, nanos: 0 };
    unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.seconds as f64 * 1e9 + t.nanos as f64
}

/// Nanoseconds per item of the fastest of `runs` runs; more until 30 ms have passed.
fn time(items: usize, runs: usize, mut body: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    let mut spent = 0.0;
    let mut run = 0;
    while run < runs || (spent < 30e6 && run < 200) {
        let start = cpu_nanos();
        body();
        let took = cpu_nanos() - start;
        best = best.min(took);
        spent += took;
        run += 1;
    }
    best / items as f64
}

struct Set {
    keys: Vec<u64>,
    queries: Vec<u64>,
    name: (usize, u64, bool),
}

impl Set {
    fn new(n: usize, seed: u64, sorted: bool) -> Set {
        let mut keys: Vec<u64> = (0..n as u64).map(|i| split_mix(seed, i)).collect();
        let count = n.min(1 << 20) as u64;
        let queries =
            (0..count).map(|i| keys[(split_mix(!seed, i) % n as u64) as usize]).collect();
        if sorted {
            keys.sort_unstable();
        }
        Set { keys, queries, name: (n, seed, sorted) }
    }

    /// Builds, checks that the function is perfect, then asks it.
    fn measure<F>(
        &self,
        build: impl Fn(&[u64]) -> F,
        bits: impl Fn(&F) -> f64,
        slot: impl Fn(&F, u64) -> usize,
    ) -> (F, f64, f64, f64) {
        let mut f = None;
        let build_ns = time(self.keys.len(), 1, || f = Some(build(&self.keys)));
        let f = f.unwrap();
        let mut taken = vec![false; self.keys.len() + self.keys.len() / 4 + 64];
        for &key in &self.keys {
            let s = slot(&f, key);
            assert!(!taken[s], "not perfect");
            taken[s] = true;
        }
        let query_ns = time(self.queries.len(), 3, || {
            let mut sum = 0;
            for &query in &self.queries {
                sum += slot(&f, query);
            }
            black_box(sum);
        });
        let bits_per_key = bits(&f) / self.keys.len() as f64;
        (f, bits_per_key, build_ns, query_ns)
    }
}

fn answer(name: &str, set: &Set) -> Option<(f64, f64, f64, f64)> {
    let n = set.keys.len() as f64;
    macro_rules! ptr_hash {
        ($bucket:ty, $params:expr) => {{
            type F = DefaultPtrHash<ptr_hash::hash::FxHash, u64, $bucket>;
            let (f, bits, build, query) = set.measure(
                |keys| F::new(keys, $params),
                |f: &F| (f.bits_per_element().0 + f.bits_per_element().1) * n,
                |f, key| f.index(&key),
            );
            let batch = time(set.queries.len(), 3, || {
                let mut sum = 0;
                for chunk in set.queries.chunks_exact(16) {
                    let keys: [u64; 16] = chunk.try_into().unwrap();
                    let slots = f.index_batch::<16, true, u64>(keys);
                    sum += slots[0] + slots[15];
                }
                black_box(sum);
            });
            Some((bits, build, query, batch))
        }};
    }
    match name {
        "fmph" => {
            let (_, bits, build, query) = set.measure(
                |keys| {
                    ph::fmph::Function::from_slice_with_conf(keys, ph::fmph::BuildConf::mt(false))
                },
                |f| f.size_bytes() as f64 * 8.0,
                |f, key| f.get(&key).unwrap_or(0) as usize,
            );
            Some((bits, build, query, -1.0))
        }
        "phast" => {
            let (_, bits, build, query) = set.measure(
                |keys| ph::phast::Function::from_slice_st(keys),
                |f| f.size_bytes() as f64 * 8.0,
                |f, key| f.get(&key),
            );
            Some((bits, build, query, -1.0))
        }
        "phast+" => {
            let (_, bits, build, query) = set.measure(
                |keys| ph::phast::Function2::from_slice_st(keys),
                |f| f.size_bytes() as f64 * 8.0,
                |f, key| f.get(&key),
            );
            Some((bits, build, query, -1.0))
        }
        "ptrhash" => ptr_hash!(ptr_hash::bucket_fn::CubicEps, PtrHashParams::default()),
        "ptrhash-fast" => ptr_hash!(Linear, PtrHashParams::default_fast()),
        _ => None,
    }
}

fn main() {
    std::env::set_var("RAYON_NUM_THREADS", "1");
    let mut set: Option<Set> = None;
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("standard input");
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [name, n, seed, sorted] = fields[..] else { break };
        let id = (n.parse().unwrap(), seed.parse().unwrap(), sorted == "1");
        if set.as_ref().map(|s| s.name) != Some(id) {
            set = Some(Set::new(id.0, id.1, id.2));
        }
        match answer(name, set.as_ref().unwrap()) {
            Some((bits, build, query, batch)) => println!("{bits} {build} {query} {batch}"),
            None => println!("unknown"),
        }
        std::io::stdout().flush().unwrap();
    }
}
