//! A sort of tiles of `u32` keys in shared memory: Batcher's bitonic network.

use phalanx::prelude::*;
use serde_json::json;

use super::{Before, Map};
use crate::case::{Case, Scale, Showcase};
use crate::twin::{Argument, Call, Twin};
use crate::{compare, data};

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "tile_sort", about: "tiles of `u32` keys, sorted in shared memory", cases };

const BLOCK: usize = 512;
const TILE: usize = 2048;

#[cluster_kernel(block = 512)]
fn tile_sort(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let keys = shared_array::<u32, TILE>();
    let i = block.thread_rank();
    let start = this_grid().block_rank() * TILE;
    keys.store_vec(i * 4, input.load_vec::<4>(start + i as usize * 4));
    let mut size = 2;
    #[unroll]
    while size <= TILE as u32 {
        let mut stride = size / 2;
        #[unroll]
        while stride > 0 {
            block.sync();
            #[unroll]
            for pair in 0..(TILE / BLOCK / 2) as u32 {
                let at = pair * BLOCK as u32 + i;
                let low = 2 * at - (at & (stride - 1)); // of the pairs at this distance
                let (a, b) = (keys[low], keys[low + stride]);
                let ascending = low & size == 0;
                keys[low] = if ascending { a.min(b) } else { a.max(b) };
                keys[low + stride] = if ascending { a.max(b) } else { a.min(b) };
            }
            stride /= 2;
        }
        size *= 2;
    }
    block.sync();
    out.store_vec(start + i as usize * 4, keys.load_vec::<4>(i * 4));
}

fn cases(scale: Scale) -> Vec<Case> {
    let tiles: usize = scale.pick(1 << 15, 2);
    let len = tiles * TILE;
    vec![Case {
        version: "bitonic network".into(),
        size: TILE as u64,
        unit: "keys in a tile",
        bytes: 8 * len as u64,
        twin: Twin::new("tile_sort", include_str!("../../twins/tile_sort.cu")).with("TILE", TILE),
        library: Some(json!({ "operation": "tile_sort", "tiles": tiles, "tile": TILE })),
        prepare: Box::new(move |device| {
            let call = move |input, out| Call::new(tiles as u32, BLOCK, [input, out].map(Argument::Word));
            let ours =
                move |device: &Device, input: &_, out: &mut _| tile_sort(input, out).grid(tiles as u32).enqueue(device);
            let keys = data::random(16, len, |bits| (bits >> 32) as u32);
            Map::prepared(device, keys, len, Before::Spoiled, ours, call, move |input, read| {
                for tile in data::sample(tiles, 64) {
                    let part = tile * TILE..(tile + 1) * TILE;
                    let mut want = input[part.clone()].to_vec();
                    want.sort_unstable();
                    compare::equal(&format!("tile {tile}"), &read(part)?, &want)?;
                }
                Ok(())
            })
        }),
    }]
}
