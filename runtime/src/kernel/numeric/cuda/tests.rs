//! The functions at values whose results the CUDA Math API's descriptions give.

use half::{bf16, f16};

use super::*;
use crate::vectors::{bf16x2, f16x2};

#[test]
fn products_of_parts() {
    assert_eq!(dp4a(0x01ff_027f_i32, 0x0302_8081_u32 as i32, 5), 5 + 3 - 2 - 256 - 127 * 127);
    assert_eq!(dp4a(u32::MAX, u32::MAX, 1), 1 + 4 * 255 * 255);
    assert_eq!(dp4a(i32::MAX, 0, i32::MIN), i32::MIN);
    assert_eq!(dp2a_lo(0xffff_0003_u32 as i32, 0x7f7f_05fe_i32, 1), 1 - 6 - 5);
    assert_eq!(dp2a_hi(0xffff_0003_u32, 0x02ff_0000, 0), 3 * 255 + 2 * 0xffff);
    assert_eq!(dp2a_lo(u32::MAX, u32::MAX, u32::MAX), u32::MAX.wrapping_add(2 * 0xffff * 0xff));
}

#[test]
fn words_beside_each_other() {
    assert_eq!(byte_perm(0x3322_1100, 0x7766_5544, 0x0246), 0x0022_4466);
    assert_eq!(byte_perm(0x3322_11f0, 0x7766_5544, 0xabcd_0088), byte_perm(0x3322_11f0, 0x7766_5544, 0));
    assert_eq!(funnelshift_l(0x8000_0001, 0x1234_5678, 4), 0x2345_6788);
    assert_eq!(funnelshift_l(7, 9, 32), 9);
    assert_eq!(funnelshift_lc(7, 9, 99), 7);
    assert_eq!(funnelshift_r(0x8000_0001, 0x1234_5678, 4), 0x8800_0000);
    assert_eq!(funnelshift_r(7, 9, 32), 7);
    assert_eq!(funnelshift_rc(7, 9, 32), 9);
    assert_eq!(mulhi(-2_i32, 3), -1);
    assert_eq!(mulhi(u64::MAX, u64::MAX), u64::MAX - 1);
    assert_eq!(sad(i32::MIN, i32::MAX, 2), 1);
    assert_eq!(sad(3_u32, 10, 100), 107);
}

#[test]
fn parts_by_themselves() {
    assert_eq!(vadd4(0xff01_7f80, 0x0102_0180), 0x0003_8000);
    assert_eq!(vaddss4(0xff01_7f80, 0x0102_0180), 0x0003_7f80);
    assert_eq!(vaddus2(0xffff_0001, 0x0001_0001), 0xffff_0002);
    assert_eq!(vsubss2(0x8000_0005, 0x0001_0007), 0x8000_fffe);
    assert_eq!(vabsdiffs4(0x7f80_0000, 0x807f_0005), 0xffff_0005);
    assert_eq!(vavgu4(0xff00_0102, 0xff01_0203), 0xff01_0203);
    assert_eq!(vcmpgts4(0x0180_7f00, 0xff00_7f01), 0xff00_0000);
    assert_eq!(vcmpgtu2(0x8000_0001, 0x7fff_0001), 0xffff_0000);
    assert_eq!(vsadu4(0xff00_0102, 0x00ff_0000), 255 + 255 + 1 + 2);
    assert_eq!(vsads2(0x8000_7fff, 0x7fff_8000), 2 * 65_535);
}

#[test]
fn packed_halves() {
    let of = |a: f32, b: f32| f16x2::new([f16::from_f32(a), f16::from_f32(b)]);
    assert_eq!(hadd2(of(1.5, -2.0), of(0.25, 2048.0)), of(1.75, 2046.0));
    assert_eq!(hsub2(of(1.5, -2.0), of(0.5, 2048.0)), of(1.0, -2050.0));
    // (1 + 2^-6)^2 - 1, whose product has more digits than an `f16`.
    let near = f16::from_bits(0x3c10);
    let rest = hfma2(f16x2::splat(near), f16x2::splat(near), of(-1.0, 0.0));
    assert_eq!(rest.lanes()[0].to_f64(), near.to_f64() * near.to_f64() - 1.0);
    assert_eq!(hmul2(of(3.0, 300.0), of(-0.5, 300.0)), of(-1.5, f32::INFINITY));
    let brain = |a: f32, b: f32| bf16x2::new([bf16::from_f32(a), bf16::from_f32(b)]);
    assert_eq!(hmax2(brain(f32::NAN, 1.0), brain(4.0, 2.0)), brain(4.0, 2.0));
    assert_eq!(hmin2(brain(f32::NAN, 1.0), brain(4.0, 2.0)), brain(4.0, 1.0));
    assert_eq!(habs2(hneg2(brain(4.0, -0.0))), brain(4.0, 0.0));
}
