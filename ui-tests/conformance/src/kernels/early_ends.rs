//! `try_fold` and `try_for_each`: a loop that ends with the first `None` or `Err`.

use super::twins::twins;

twins! {
    early_ends;
    uses {}
    helpers {}

    fn summed(x: i32, y: i32) -> i32 {
        let v = [x, y, 3, 7];
        v.iter().copied().try_fold(0i32, |s, v| if v > 8 { None } else { Some(s + v) }).unwrap_or(-99)
    }
    fn checked(x: i32, y: i32) -> i32 {
        let v = [x as i8 * 10, y as i8 * 9, 3];
        v.iter().try_fold(1i8, |s, &v| s.checked_add(v)).map_or(1000, |s| s as i32)
    }
    fn failing(x: i32, y: i32) -> i32 {
        let v = [x, y, 3, 7];
        let r: Result<i32, i32> = v.iter().try_fold(0, |s, &v| if v < 9 { Ok(s + v) } else { Err(v * 100) });
        match r { Ok(s) => s, Err(e) => -e }
    }
    fn filtered(x: i32, y: i32) -> i32 {
        let v = [x, y, 3, 7, -2];
        v.iter().filter(|v| **v > 0).map(|v| v * 2).try_fold(1, |s, v| (s < 30).then_some(s + v)).unwrap_or(7777)
    }
    fn each(x: i32, y: i32) -> i32 {
        let v = [x, y, 3, 7];
        let mut seen = 0;
        let r = v.iter().try_for_each(|&v| { seen += 1; if v > 6 { Err(v) } else { Ok(()) } });
        seen * 100 + r.err().unwrap_or(50)
    }
    fn of_range(x: i32, y: i32) -> i32 {
        let n = (0..y).try_fold(x, |s, i| if s > 20 { None } else { Some(s + i) });
        n.unwrap_or(-5)
    }
    fn question(x: i32, y: i32) -> i32 {
        let v = [x, y, 5];
        let of = |v: [i32; 3]| v.iter().copied().enumerate().try_fold(0, |s, (i, v)| if v == 4 { None } else { Some(s + v * i as i32) });
        match of(v) { Some(s) => s, None => 600 }
    }
    fn flattened(x: i32, y: i32) -> i32 {
        let v = [[x, y, 3], [7, x + y, 2]];
        let mut seen = 0;
        let r: Result<i32, i32> = v.iter().flatten().try_fold(0, |s, &v| { seen += 1; if v < 6 { Ok(s + v) } else { Err(v) } });
        r.unwrap_or_else(|e| -e) * 10 + seen
    }
    fn chained(x: i32, y: i32) -> i32 {
        let (v, w) = ([x, y, 3], [7, x + y]);
        let mut seen = 0;
        let r = v.iter().chain(&w).try_fold(0, |s, &v| { seen += 1; if v < 6 { Some(s + v) } else { None } });
        r.unwrap_or(-3) * 10 + seen
    }
    fn by_path(x: i32, y: i32) -> i32 {
        let v = [x, y, 3];
        v.iter().copied().try_fold(100, i32::checked_sub).unwrap_or(0)
    }
}
