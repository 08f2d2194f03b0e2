//! Names that clash in C++, shadowing, constants, aliases, arrays, references, and literals beside other operands.

use super::twins::twins;

twins! {
    names;
    uses {
        const STEP: i32 = 3;
        type Real = f32;
    }
    helpers {
        // Changes what it is lent, and gives what it was.
        fn next(counter: &mut i32) -> i32 {
            *counter += 1;
            *counter * 10
        }
        fn fill(values: &mut [i32; 4], from: i32) {
            for i in 0..4 {
                values[i] = from + i as i32;
            }
        }
        fn total(values: &[i32; 4]) -> i32 {
            let mut sum = 0;
            for i in 0..values.len() {
                sum += values[i];
            }
            sum
        }
        fn reversed(values: [i32; 4]) -> [i32; 4] {
            [values[3], values[2], values[1], values[0]]
        }
        fn early(x: i32) -> i32 {
            if x < 0 {
                return -1;
            }
            for i in 0..x {
                if i * i >= x {
                    return i;
                }
            }
            x
        }
        fn toggled(flag: &mut bool) -> bool {
            *flag = !*flag;
            *flag
        }
        fn twice(x: Real) -> Real {
            x * 2.0
        }
        fn max(a: i32, b: i32) -> i32 {
            a * 100 + b
        }
        fn int(a: i32) -> i32 {
            a - 1
        }
    }

    fn shadowing(x: i32, y: i32) -> i32 {
        let x = x + 1;
        let x = x * y;
        let z = x;
        {
            let x = z - 1;
            let z = x * 2;
            if z > 3 {
                let x = 5;
                return x + z;
            }
        }
        for x in 0..2 {
            let x = x + z;
            if x > 100 {
                return x;
            }
        }
        let y = x > y;
        if y { x } else { z + 7 }
    }
    fn shadowing_with_another_type(x: i32, y: i32) -> i32 {
        let x = x as f64 * 0.5;
        let x = x as i64;
        let y = [y, 1];
        let y = y[0] + y[1];
        x as i32 * 10 + y
    }
    fn initialised_by_what_it_shadows(x: i32, y: i32) -> i32 {
        let a = x;
        let a = [a, a + 1, a * y];
        let a = a[2] - a[1] + a[0];
        let max = max(a, 2);
        let next = { let mut n = max; next(&mut n) };
        next
    }
    fn cpp_words(x: i32, y: i32) -> i32 {
        let auto = x;
        let int = int(auto);
        let float = y as f32;
        let register = int + 1;
        let class = register - y;
        let template = [class, int];
        let namespace = template[0] + template[1];
        let unsigned = namespace as u32;
        let signed = unsigned as i32;
        let double = signed as f64;
        let new = double as i32;
        let delete = new + auto;
        let operator = delete & 7;
        let this = operator | 8;
        let nullptr = this == 8;
        let and = nullptr && x > 0;
        let xor = and as i32;
        let sizeof = xor + float as i32;
        let volatile = sizeof;
        let default = volatile + 1;
        let switch = default;
        let goto = switch;
        let asm = goto;
        let char = asm as u8;
        let short = char as i16;
        let long = short as i64;
        let main = long as i32;
        main + new
    }
    fn macros_of_cpp(x: i32, y: i32) -> i32 {
        let NULL = x;
        let linux = NULL + y;
        let unix = linux;
        let __CUDACC__ = unix;
        let __FILE__ = __CUDACC__;
        let INT_MAX = __FILE__;
        let NAN = INT_MAX;
        let EOF = NAN;
        let M_PI = EOF;
        let assert = M_PI;
        let offsetof = assert;
        let va_list = offsetof;
        va_list
    }
    fn prelude_words(x: i32, y: i32) -> i32 {
        let array = [x, y];
        let slice = array[0];
        let min = slice.min(array[1]);
        let max = max(min, 3);
        let range = max % 7;
        let mut option = 0;
        for range in 0..range {
            option += range;
        }
        let as_ = option as u8;
        let threadIdx = as_ as i32;
        let blockDim = threadIdx + 1;
        let failure = blockDim;
        let fail = failure;
        let detail = fail;
        let phalanx = detail;
        let extent = phalanx;
        let integer = extent;
        let real = integer;
        let atomic = real;
        let shared_array = atomic;
        let usize_ = shared_array as usize;
        let assertion_failed = usize_ as i32;
        let abs = assertion_failed.abs();
        let sqrt = (abs as f32).sqrt();
        let atomicAdd = sqrt as i32;
        let __syncthreads = atomicAdd;
        let _Capital = __syncthreads;
        let a__b = _Capital;
        let warpSize = a__b;
        let printf = warpSize;
        let assert = printf;
        let site_of = assert;
        let index = site_of;
        let recorded = index;
        recorded + max
    }
    fn other_words(x: i32, y: i32) -> i32 {
        let r#match = x;
        let r#type = y + 1;
        let größe = r#match * r#type;
        let 高さ = größe + 1;
        let x_2 = x;
        let x = x_2 + 1;
        let x = x + x_2;
        let value = { let mut y = x; next(&mut y) };
        let value = value + 高さ;
        let u32 = value as u32;
        let i32 = u32 as i32;
        let loop_break = 'l: loop { loop { break 'l i32; } };
        let r#loop = loop_break;
        r#loop
    }
    fn constants(x: i32, y: i32) -> i32 {
        const LOCAL: i32 = 5;
        const TABLE: usize = 3;
        let mut a = [STEP; TABLE];
        a[1] = LOCAL;
        let far = i32::MAX - x.abs() - i32::MAX;
        let wide = (u64::MAX >> 60) as i32 + (i8::MIN as i32) + u16::MAX as i32;
        let bits = u32::BITS as i32;
        let tiny = if f32::EPSILON < 0.001 && f64::MAX > 1e300 && f32::INFINITY > f32::MAX { 1 } else { 0 };
        let pi = (std::f32::consts::PI * 100.0) as i32;
        a[0] + a[1] + a[2] + STEP * LOCAL + far + wide + bits + tiny + pi + y
    }
    fn aliases(x: i32, y: i32) -> i32 {
        let z: Real = x as Real * 0.5;
        let w = twice(z) + y as Real;
        let v: [Real; 2] = [w, z];
        (v[0] * 2.0 + v[1]) as i32
    }
    fn arrays(x: i32, y: i32) -> i32 {
        let mut a = [0; 4];
        fill(&mut a, x);
        let b = a;
        a[1] = 50;
        let c = reversed(b);
        let mut d = [[1i32, 2, 3, 4], [x, y, 0, 1]];
        d[1] = a;
        d[0][2] = d[1][1] + b[3];
        let e: [[[u8; 2]; 3]; 2] = [[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]];
        let mut f = e;
        f[1][2][0] += 1;
        total(&a) + 10 * total(&c) + d[0][2] + d[1][3] + e[1][2][0] as i32 + f[1][2][0] as i32 + a.len() as i32
    }
    fn references(x: i32, y: i32) -> i32 {
        let mut a = [x, y, 0, 1];
        let mut n = y;
        fill(&mut a, next(&mut n));
        let t = total(&a);
        let mut flag = x > y;
        toggled(&mut flag);
        t + n + flag as i32
    }
    fn calls_in_calls(x: i32, y: i32) -> i32 {
        early(early(x + 3) + early(y)) + int(int(x)) - max(int(1), early(9))
    }
    fn parentheses(x: i32, y: i32) -> i32 {
        let a = x - (y - (x - y));
        let b = (x & y) == y;
        let c = x & (y == y) as i32;
        let d = -(-x) - -y;
        let e = !(!x) ^ !y;
        let f = (x + y) * (x - y) % 7;
        let g = x * (y % 5) / 3;
        let h = (x < y) == (y < x);
        let i = 1 << (2 + 1) << 1 >> 2;
        let j = x | y & 6 ^ x & 3;
        let k = if x < y { 1 } else { 2 } + 3;
        a + b as i32 + c + d + e + f + g + h as i32 + i + j + k
    }
    fn literals_beside(x: i32, y: i32) -> i32 {
        let a = x as u8 as u32 + 0xff_u32;
        let b = y as i64 + 5_000_000_000;
        let c = (x as u64 ^ 0xffff_ffff_ffff_ffff) as i32;
        let d = 1_000u16 + x as u8 as u16;
        let e = 0b1010_1010u8 & y as u8;
        let f = 0o17 + x;
        let g = (1e-3f32 * y as f32 + 1.5e2) as i32;
        let h = if (x as f64) < 2.5 { 7 } else { 8 };
        let j = (b % 1000) as i32;
        a as i32 + j + c % 100 + d as i32 + e as i32 + f + g + h
    }
    fn wide_literals_beside(x: i32, y: i32) -> i32 {
        let a = x as i128 + 170_141_183_460_469_231_731_687_303_715_884_105_000;
        let b = a - 170_141_183_460_469_231_731_687_303_715_884_104_999;
        let c = y as u128 & 0xffff_0000_0000_0000_0000_0000_ffff_0000;
        let d = c > 0x1_0000_0000_0000_0000 && -18_446_744_073_709_551_617 < b;
        b as i32 + (c >> 100) as i32 + d as i32
    }
    fn inferred_later(x: i32, y: i32) -> i32 {
        let mut a = 0;
        let mut b = 1;
        let mut c = [0; 3];
        let d = 200;
        let e = 2.5;
        a += x as i64;
        b += y as u8 as u16;
        c[1] = d;
        let f: u8 = c[1];
        let g: f32 = e;
        a as i32 * 3 + b as i32 + f as i32 + (g * 4.0) as i32
    }
    fn unsafe_blocks(x: i32, y: i32) -> i32 {
        // SAFETY: none of it needs the block, which is what is tested.
        let z = unsafe { x + y };
        // SAFETY: as above.
        unsafe {
            let w = z * 2;
            if w > 10 { return w; }
        }
        z
    }
}
