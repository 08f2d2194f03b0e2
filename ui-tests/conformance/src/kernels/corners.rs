//! Corner cases of evaluation: what is read before a later operand changes it, in temporaries, struct literals, conditions
//! and indices; jumps out of the middle of expressions; ranges up to the ends of their types; what closures see.

use super::twins::twins;

twins! {
    corners;
    uses {

        #[derive(Clone, Copy, PartialEq, Debug, phalanx::DeviceCopy)]
        #[repr(C)]
        pub(crate) struct Pt {
            pub(crate) x: i32,
            pub(crate) y: i32,
        }
        #[derive(Clone, Copy, PartialEq, Debug, phalanx::DeviceCopy)]
        #[repr(C)]
        pub(crate) struct Rec {
            pub(crate) p: [Pt; 3],
            pub(crate) d: [i32; 4],
        }
    }
    helpers {

        fn bump(n: &mut i32) -> i32 {
            *n += 1;
            *n
        }
        fn opt(n: i32) -> Option<i32> {
            if n > 0 { Some(n) } else { None }
        }
        fn pt(t: &mut i32, n: i32) -> Pt {
            *t = *t * 7 + n;
            Pt { x: n, y: *t }
        }
        fn add_to(a: &mut [i32; 4], i: usize) -> i32 {
            a[i] += 10;
            a[(i + 1) % 4]
        }
        fn apply(f: impl Fn(i32) -> i32, n: i32) -> i32 {
            f(n)
        }
        fn apply2(f: impl Fn(i32) -> i32, g: impl Fn(i32) -> i32, n: i32) -> i32 {
            f(g(n)) - g(f(n))
        }
        fn note(t: &mut i32, n: i32) -> bool {
            *t = (*t * 10 + n) % 100_003;
            *t % 3 != 0
        }
        fn early(x: i32, y: i32) -> i32 {
            let a = if x > y { return 100 + x } else { y };
            let b = match a {
                0 => return 7,
                n if n > 5 => {
                    if x == 2 {
                        return n;
                    }
                    n - 1
                }
                n => n,
            };
            let c = loop {
                if b > 3 {
                    break b;
                }
                if b < -1 {
                    return -50;
                }
                break {
                    if x == 1 {
                        return 11;
                    }
                    5
                };
            };
            c + x * {
                if y == 4 {
                    return 44;
                }
                y
            }
        }
    }


    fn order_struct(x: i32, y: i32) -> i32 {
        let mut t = x;
        let r = Rec {
            d: [bump(&mut t), t, bump(&mut t), t],
            p: [pt(&mut t, 1), pt(&mut t, 2), Pt { y: bump(&mut t), x: bump(&mut t) }],
        };
        let mut q = Pt { x: t, ..pt(&mut t, y) };
        q = Pt { y: q.x, x: q.y };
        let (a, b) = (q.x, {
            q.x += 3;
            q.x
        });
        let [c, d, ..] = [
            a,
            {
                q.y = 1;
                b
            },
            3,
        ];
        r.d[0]
            + r.d[1] * 3
            + r.d[2] * 5
            + r.d[3] * 7
            + r.p[0].y % 1000
            + r.p[1].y % 1000 * 3
            + r.p[2].x % 100 * 5
            + r.p[2].y % 100 * 11
            + q.x % 1000
            + q.y
            + a % 100
            + b % 100
            + c % 10
            + d % 10
    }
    fn order_cond(x: i32, y: i32) -> i32 {
        let mut t = 0;
        let a = x + if note(&mut t, 1) { t } else { -t } * if note(&mut t, 2) && note(&mut t, 3) { t } else { 2 };
        let b = t + match (note(&mut t, 4), note(&mut t, 5)) {
            (true, true) => t,
            (true, _) => {
                t += 1;
                3
            }
            (_, true) if note(&mut t, 6) => t,
            _ => 9,
        } - t;
        let mut n = y;
        let c = n * {
            n += 1;
            n
        } + (n - {
            n *= 2;
            n
        }) * {
            let n = n - 1;
            n
        } + -n;
        let d = (
            t,
            {
                t += 1;
                t
            },
            t,
        );
        let e = [t; 3][{
            t += 1;
            1
        }] + t;
        let f = opt({
            n += 1;
            n
        })
        .unwrap_or({
            n += 5;
            n
        }) + n;
        let g = (n as i64 * {
            n -= 1;
            n
        } as i64) as i32;
        let h = n
            .max({
                n += 2;
                n
            })
            .min(t)
            .wrapping_add({
                t += 1;
                n
            });
        a % 10007
            + b % 10007
            + c % 10007
            + d.0 % 100
            + d.1 % 100 * 3
            + d.2 % 100 * 5
            + e % 100
            + f % 100
            + g % 1000
            + h % 1000
    }
    fn order_logic(x: i32, y: i32) -> i32 {
        let mut t = x;
        let a = t > 3 && {
            t += 1;
            t > y
        } || {
            t -= 2;
            t == y
        };
        let b = (t > 1) as i32
            + ({
                t += 1;
                t
            } > y) as i32;
        let c = if let (true, n) = (a, {
            t += 1;
            t
        }) {
            n
        } else {
            t
        };
        let mut i = 0;
        let mut s = 0;
        while {
            i += 1;
            i
        } < y
            && {
                s += i;
                s < 30
            }
        {
            if i == 3 {
                continue;
            }
            s += 100 * (i % 2);
        }
        t + b * 3 + c * 5 + i * 7 + s
    }
    fn returns(x: i32, y: i32) -> i32 {
        let mut s = early(x, y) + early(y, x) * 3;
        'outer: for i in 0..5 {
            let k = 'blk: {
                if i == x {
                    break 'blk 10;
                }
                if i == y {
                    continue 'outer;
                }
                if i + x == 7 {
                    break 'outer;
                }
                i
            };
            s += k + loop {
                s += 1;
                if s % 3 == 0 {
                    break s;
                }
                if s > 10000 {
                    break 'outer;
                }
            };
        }
        s
    }
    fn ranges(x: i32, y: i32) -> i32 {
        let mut s = 0;
        let mut e = y;
        for i in x..e {
            e -= 1;
            s += i * e;
        }
        for i in (x..=y).rev() {
            s = s * 3 % 1009 + i;
        }
        for i in (x..y).step_by(3) {
            s = s * 5 % 1009 + i;
        }
        for i in (x..=y).rev().step_by(2) {
            s = s * 7 % 1009 + i;
        }
        for i in (x as u8..y as u8).step_by(4).rev() {
            s = s * 11 % 1009 + i as i32;
        }
        for i in (i32::MAX - 2)..=i32::MAX {
            s ^= i;
        }
        for i in (i32::MIN..=i32::MIN + 1).rev() {
            s ^= i;
        }
        for i in 250u8..=255 {
            s += i as i32;
        }
        for mut i in 0..3 {
            i *= 2;
            s += i;
        }
        for _ in 0..x {
            s += 1;
        }
        for i in (0u8..=255).step_by(100) {
            s += i as i32;
        }
        s
    }
    fn arrays(x: i32, y: i32) -> i32 {
        let mut a = [x, y, 1, 2];
        let mut b = a;
        let mut i = (x & 3) as usize;
        b[i] = a[i] + {
            a[i] += 1;
            a[i]
        };
        b[{
            i = (i + 1) % 4;
            i
        }] += a[i] + add_to(&mut a, i);
        let c = add_to(&mut a, 3) + a[0] - add_to(&mut b, (y & 3) as usize) * b[1];
        let mut g = [[0i32; 3]; 2];
        g[(x & 1) as usize][(y & 1) as usize] = 5;
        let row = g[0];
        g[1] = row;
        g[0][2] -= 4;
        let mut h = [(0, 1i64), (2, 3)];
        h[1].0 = x;
        h[0].1 += y as i64;
        let (p, q) = h[i % 2];
        a[0] + a[1] * 3
            + a[2] * 5
            + a[3] * 7
            + b[0] * 11
            + b[1] * 13
            + b[2] * 17
            + b[3] * 19
            + c
            + g[1][0]
            + g[1][1] * 3
            + g[0][2]
            + g[1][2] * 7
            + p
            + q as i32
    }
    fn closures_capture(x: i32, y: i32) -> i32 {
        let a = [x, y, 3, 4];
        let p = Pt { x, y };
        let o = opt(x);
        let t = (y, x);
        let f = |i: i32| a[(i & 3) as usize] + p.x * t.0 + o.unwrap_or(9);
        let g = move |i: i32| {
            let mut a = a;
            a[0] = i;
            a[0] + a[1] - p.y
        };
        let h = |i: i32| -> i32 {
            let mut s = 0;
            for k in 0..i {
                if k == 3 {
                    continue;
                }
                if k > 6 {
                    break;
                }
                s += f(k) * k;
            }
            s
        };
        let id = |i| i;
        apply(f, x)
            + apply(g, y) * 3
            + apply(h, y) * 5
            + apply2(
                id,
                |z| {
                    if z > x {
                        z - x
                    } else {
                        match z {
                            0 => 1,
                            n => n * n,
                        }
                    }
                },
                y,
            )
            + apply(|_| 5, 1)
            + a[0]
    }
    fn closure_shadow(x: i32, y: i32) -> i32 {
        let v = x;
        let f = move |x: i32| x * 10 + v;
        let v = f(y);
        let f = |y: i32| f(y) - v;
        let v = f(x);
        let r = {
            let v = 3;
            let f = |z: i32| f(z) + v;
            f(v)
        };
        let mut m = 5;
        let c = m;
        let q = |n: i32| n + c;
        m += 1;
        m += q(m);
        r + v + m + f(1)
    }
    fn diverging(x: i32, y: i32) -> i32 {
        let v: i32;
        if x > 3 {
            v = y;
        } else if x < -1 {
            return -9;
        } else {
            v = match y {
                0 => 1,
                n => {
                    if n > 8 {
                        return n;
                    }
                    n + 1
                }
            };
        }
        let w;
        match v {
            0 => w = 3,
            1 | 2 => w = v * 2,
            _ => {
                w = -v;
            }
        }
        let p;
        let q;
        (p, q) = (w, v);
        let z = if x == 0 { 3 } else { 4 };
        v + w * 3 + p * 5 + q * 7 + z
    }
}
