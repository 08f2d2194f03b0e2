// Holds the arithmetic of intervals (interval.cuh) against the arithmetic of integers: every value that is computed from
// values of two loops is one of those that the interval of the result allows, and a test that memory is covered holds
// only if each index is within bounds. Prints the first error and returns 1. The ranges are random.
#include "cuda.h"
#include <phalanx/counting.cuh>
#include <phalanx/limits.cuh>
#include <phalanx/math.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/vector_interval.cuh>
#include <phalanx/wrapping.cuh>
#include <cstdio>
#include <random>
#include <vector>

using namespace phalanx;

// There is one failing thread, which throws.
static std::mt19937_64 numbers(1);

static unsigned long long below(unsigned long long limit) { return numbers() % limit; }

// Whether a value may be one of an interval's, which says that it differs by a multiple of 2^bits from one of its numbers.
template <class Raw>
static bool is_congruent(detail::interval<Raw> values, Raw value) {
    using wide = __int128;
    const auto of = [&](long long limit) { return values.natural ? wide(static_cast<unsigned long long>(limit)) : wide(limit); };
    const auto low = of(values.low), high = of(values.high), ceiling = wide(values.ceiling);
    const bool is_bounded = -ceiling <= low && high <= ceiling && (values.natural || ceiling <= wide(~0ull >> 1));
    const auto wrap = wide(1) << sizeof(Raw) * 8;
    const auto distance = ((wide(value) - low) % wrap + wrap) % wrap;
    const auto granule = wide(values.steps & -values.steps);
    return is_bounded && low + distance <= high && (granule == 0 || granule >= wrap ? distance == 0 : distance % granule == 0);
}

template <class Raw>
static bool holds(detail::interval<Raw> all, Raw value) {
    if (all.none) {
        return false;
    }
    if (!all.known) {
        return true;
    }
    if (!is_congruent(all, value)) {
        return false;
    }
    const auto values = all.exact();
    if (!values.known) {
        return true;
    }
    const auto granule = values.steps & -values.steps;
    const auto distance = static_cast<unsigned long long>(value) - static_cast<unsigned long long>(values.low);
    const bool congruent = granule == 0 ? distance == 0 : distance % granule == 0;
    return static_cast<long long>(value) >= values.low && static_cast<long long>(value) <= values.high && congruent;
}

// A range as a loop has it, near 0, near the limits of the type, or anywhere.
template <class Raw>
static Raw bound() {
    switch (below(8)) {
    case 0: return static_cast<Raw>(detail::max_of<Raw>() - static_cast<Raw>(below(40)));
    case 1: return static_cast<Raw>(detail::min_of<Raw>() + static_cast<Raw>(below(40)));
    case 2: return static_cast<Raw>(numbers() >> below(64));
    case 3: return static_cast<Raw>(1ull << below(sizeof(Raw) * 8) | below(3));
    default: return static_cast<Raw>(below(40));
    }
}

static unsigned long long known = 0, covered = 0, errors = 0;

template <class Raw>
static void fail_at(const char* what, Raw a, Raw b) {
    if (errors++ == 0) {
        std::printf("%s of %lld and %lld (%zu bytes)\n", what, static_cast<long long>(a), static_cast<long long>(b),
                    sizeof(Raw));
    }
}

// Calls `f(interval, values)` for a random range, of which some values are looked at.
template <class Raw, class F>
static void with_range(F f) {
    const auto low = bound<Raw>();
    const auto high = static_cast<Raw>(low + static_cast<Raw>(below(30)));
    const auto step = below(9) == 0 ? (numbers() >> below(64)) | 1 : below(3) == 0 ? below(9) + 1 : 1ull << below(9);
    const auto plain = range(integer<Raw>(low), integer<Raw>(high));
    std::vector<Raw> values;
    if (below(3) == 0) {
        for (auto value : plain) {
            values.push_back(value.value);
        }
        f(values_of(plain), values);
    } else if (below(2) == 0) {
        const auto inclusive = range_inclusive(integer<Raw>(low), integer<Raw>(high));
        const auto each = [&](auto range) {
            for (auto value : range) {
                values.push_back(value.value);
            }
            f(values_of(range), values);
        };
        switch (below(6)) {
        case 0: return each(plain.rev());
        case 1: return each(inclusive);
        case 2: return each(inclusive.rev());
        case 3: return each(inclusive.step_by(u64(step)));
        case 4: return each(plain.rev().step_by(u64(step)));
        default: return each(plain.step_by(u64(step)).rev());
        }
    } else {
        const auto stepped = plain.step_by(u64(step));
        for (auto value : stepped) {
            values.push_back(value.value);
        }
        std::vector<Raw> again;
        for (auto value : unclamped(stepped)) {
            again.push_back(value.value);
            if (again.size() > values.size()) {
                break;
            }
        }
        if (again != values) {
            fail_at("the plain range", low, high);
        }
        f(below(2) == 0 ? values_of(stepped) : values_of(stepped, unclamped(stepped)), values);
    }
}

template <class Raw>
static void compare() {
    using number = integer<Raw>;
    with_range<Raw>([](auto a, const std::vector<Raw>& as_) {
        with_range<Raw>([&](auto b, const std::vector<Raw>& bs) {
            const number fixed(bound<Raw>()), other_fixed(bound<Raw>());
            const auto sum = a + b, difference = a - b, product = a * b, bits = (a | b), other = (a ^ b), both = (a & b);
            const auto quotient = a / fixed, rest = a % b, rest_of_one = sum % fixed, masked = product & fixed, shifted = a << u32(3), half = a >> u32(2), scaled = fixed * a + fixed;
            const auto lesser = min(a, b), greater = max(a, b), left = saturating_sub(a, b);
            const auto at_most = min(a, values_of(fixed)), at_least = max(values_of(fixed), a), within = min(at_least, values_of(other_fixed));
            const number few(static_cast<Raw>(below(5)));
            const auto chain = a * b * few + a * fixed - b;
            known += chain.known + rest_of_one.known + masked.known + at_most.known + within.known + lesser.known + left.known + sum.known + product.known + quotient.known + rest.known;
            for (auto x : as_) {
                if (!holds(a, x)) {
                    fail_at("a value", x, x);
                }
                const auto check = [&](auto values, const char* what, number result, Raw y) {
                    if (!holds(values, result.value)) {
                        fail_at(what, x, y);
                    }
                };
                check(shifted, "<<", number(x) << u32(3), x);
                check(half, ">>", number(x) >> u32(2), x);
                check(at_most, "min with a bound", min(number(x), fixed), fixed.value);
                check(at_least, "max with a bound", max(number(x), fixed), fixed.value);
                check(within, "max and min", min(max(number(x), fixed), other_fixed), other_fixed.value);
                check(scaled, "a * x + a", fixed * number(x) + fixed, fixed.value);
                if (quotient.known) {
                    check(quotient, "/", number(x) / fixed, fixed.value);
                }
                for (auto y : bs) {
                    check(sum, "+", number(x) + number(y), y);
                    check(difference, "-", number(x) - number(y), y);
                    check(product, "*", number(x) * number(y), y);
                    check(bits, "|", number(x) | number(y), y);
                    check(other, "^", number(x) ^ number(y), y);
                    check(both, "&", number(x) & number(y), y);
                    check(masked, "& of one", number(x) * number(y) & fixed, y);
                    if (rest_of_one.known) {
                        check(rest_of_one, "% of one", (number(x) + number(y)) % fixed, y);
                    }
                    check(lesser, "min", min(number(x), number(y)), y);
                    check(greater, "max", max(number(x), number(y)), y);
                    check(left, "saturating_sub", saturating_sub(number(x), number(y)), y);
                    if (rest.known) {
                        check(rest, "%", number(x) % number(y), y);
                    }
                    const auto cast = [&](auto to, const char* what) {
                        using type = decltype(to);
                        if (!holds(as<type>(sum), as<type>(number(x) + number(y)).value) ||
                            !holds(as<type>(product), as<type>(number(x) * number(y)).value)) {
                            fail_at(what, x, y);
                        }
                    };
                    cast(i64(), "as i64");
                    cast(u64(), "as u64");
                    cast(i32(), "as i32");
                    cast(u8(), "as u8");
                    // More than a sum of products, of which each may be near the limits.
                    check(chain, "x * y * z + x * w - y", number(x) * number(y) * few + number(x) * fixed - number(y), y);
                }
            }
            // Elements and vectors of a slice that begins at any multiple of 4 bytes.
            alignas(16) static f32 elements[80];
            const slice_mut<f32> memory{{elements + below(4), static_cast<detail::slice_length>(below(80))}};
            const auto index = a * few + b;
            const bool elements_covered = covers(memory, index), vectors_covered = covers_vectors<4>(memory, index);
            const bool converted_covered = covers_as<u64>(memory, index);
            covered += elements_covered + vectors_covered + converted_covered;
            for (auto x : as_) {
                for (auto y : bs) {
                    const auto at = number(x) * few + number(y);
                    try {
                        if (elements_covered) {
                            memory[at];
                        }
                        if (converted_covered) {
                            memory[as<u64>(at)];
                        }
                        if (vectors_covered) {
                            load_vec<4>(memory, at);
                        }
                    } catch (shim::failed) {
                        fail_at("an index", x, y);
                    }
                }
            }
        });
    });
}

// A variable that changes by a step in each iteration.
template <class Raw>
static void compare_steps() {
    const integer<Raw> first(bound<Raw>()), step(static_cast<Raw>(below(3) == 0 ? bound<Raw>() : static_cast<Raw>(below(9))));
    const auto each = [&](auto range) {
        const auto up = increased(first, step, range), down = decreased(first, step, range);
        known += up.known + down.known;
        auto more = first, less = first;
        for (auto value : range) {
            if (!holds(up, more.value)) {
                fail_at("increased", first.value, step.value);
            }
            if (!holds(down, less.value)) {
                fail_at("decreased", first.value, step.value);
            }
            more += step;
            less -= step;
        }
    };
    const auto low = bound<int>();
    const auto plain = range(i32(low), i32(static_cast<int>(static_cast<unsigned>(low) + below(30))));
    const auto inclusive = range_inclusive(i32(low), i32(static_cast<int>(static_cast<unsigned>(low) + below(30))));
    const u64 every(below(4) == 0 ? (numbers() >> below(64)) | 1 : below(9) + 1);
    each(plain);
    each(plain.rev());
    each(plain.step_by(every));
    each(plain.step_by(every).rev());
    each(inclusive);
    each(inclusive.step_by(every));
}

// A variable that changes by another step in each iteration.
template <class Raw>
static void compare_other_steps() {
    with_range<Raw>([](detail::interval<Raw> steps, const std::vector<Raw>& some) {
        const integer<Raw> first(bound<Raw>());
        const auto rounds = range(i32(0), i32(static_cast<int>(below(20))));
        const auto up = increased(first, steps, rounds), down = decreased(first, steps, rounds);
        const auto at_most = increased_at_most(first, steps, rounds);
        known += up.known + down.known + at_most.known;
        auto more = first, less = first;
        for ([[maybe_unused]] auto round : rounds) {
            if (some.empty()) {
                break;
            }
            const integer<Raw> step(some[below(some.size())]);
            if (!holds(up, more.value) || !holds(down, less.value) || !holds(at_most, more.value)) {
                fail_at("changed by steps", first.value, step.value);
            }
            more += step;
            less -= step;
            if (!holds(at_most, more.value)) {
                fail_at("changed after steps", first.value, step.value);
            }
        }
    });
}

// Indexes that differ by what the loop does not change.
template <class Raw>
static void compare_spreads() {
    with_range<Raw>([](detail::interval<Raw> values, const std::vector<Raw>& some) {
        const auto any = [] { return integer<Raw>(below(3) == 0 ? bound<Raw>() : static_cast<Raw>(below(40))); };
        const integer<Raw> a(any()), b(any()), c(any()), d(any());
        const auto all = spread_by(values, up_by(a), down_by(b), up_by(c).down_by(d), up_by(0));
        known += all.known;
        for (auto value : some) {
            const integer<Raw> x(value);
            for (auto index : {x + a, x - b, x + c - d, x}) {
                if (!holds(all, index.value)) {
                    fail_at("neighbours", value, index.value);
                }
            }
        }
    });
}

// Values that pass comparisons. What does not pass is none of the interval's, or may be.
template <class Raw>
static void compare_limits() {
    using number = integer<Raw>;
    with_range<Raw>([](detail::interval<Raw> values, const std::vector<Raw>& some) {
        const auto any = [] { return number(below(3) == 0 ? bound<Raw>() : static_cast<Raw>(below(40))); };
        const number low(any()), high(any()), shift(below(2) == 0 ? number(0) : any()), array[3] = {any(), any(), any()};
        const auto up = up_by(shift), down = down_by(shift);
        const auto from = limited(values, at_least(low)), above = limited(values, more_than(low, up));
        const auto up_to = limited(values, at_most(high, down)), under = limited(values, less_than(high));
        const auto but = limited(values, other_than(low, up)), between = limited(values, at_least(low, up), less_than(high, down));
        const auto bounded = confined(values, more_than(low, down), at_most(high, up), other_than(low));
        const auto moved = confined(values + low, at_least(shift), less_than(high)) - shift;
        const auto elements = values_in(local_array<number, 3>{array[0], array[1], array[2]});
        known += between.known + bounded.known + moved.known + elements.known;
        const auto check = [](const char* what, auto values, number x) {
            if (!holds(values, x.value)) {
                fail_at(what, x.value, x.value);
            }
        };
        for (auto element : array) {
            check("an element", elements, element);
        }
        for (auto value : some) {
            const number x(value);
            const auto passed = [&](const char* what, bool passes, auto values) {
                if (passes) {
                    check(what, values, x);
                }
            };
            passed(">=", x >= low, from);
            passed(">", x + shift > low, above);
            passed("<=", x - shift <= high, up_to);
            passed("<", x < high, under);
            passed("!=", x + shift != low, but);
            passed("between", x + shift >= low && x - shift < high, between);
            passed("between for all threads", x - shift > low && x + shift <= high && x != low, bounded);
            if (x + low >= shift && x + low < high) {
                check("moved", moved, x + low - shift);
            }
        }
    });
}

// The counter of a `while` loop, of which the first values are looked at.
template <class Raw>
static void compare_whiles() {
    constexpr unsigned long long most = 100;
    const integer<Raw> first(bound<Raw>()), step(static_cast<Raw>(below(4) == 0 ? bound<Raw>() : static_cast<Raw>(below(9))));
    const integer<Raw> end(below(3) == 0 ? bound<Raw>() : static_cast<Raw>(first.value + static_cast<Raw>(below(60))));
    const auto each = [&](auto steps, auto goes_on) {
        const auto values = values_of(steps);
        std::vector<Raw> whiled, counted;
        for (auto i = first; goes_on(i) && whiled.size() < most; i += step) {
            whiled.push_back(i.value);
        }
        if (!is_counting(steps)) {
            return;
        }
        ++known;
        for (auto value : unclamped(steps)) {
            counted.push_back(value.value);
            if (counted.size() == most) {
                break;
            }
        }
        if (counted != whiled) {
            fail_at("the values of a counter", first.value, end.value);
        }
        for (auto value : whiled) {
            if (!holds(values, value)) {
                fail_at("a counter", value, end.value);
            }
        }
        if (whiled.size() < most && values.high != static_cast<long long>(whiled.back()) && (step.value & (step.value - 1)) == 0) {
            fail_at("the last value of a counter", whiled.back(), end.value);
        }
    };
    each(counting(first, end, step), [&](integer<Raw> i) { return i < end; });
    each(counting_through(first, end, step), [&](integer<Raw> i) { return i <= end; });
}

// Loops inside of another one, of which the values of some are looked at.
template <class Raw>
static void compare_inner() {
    using number = integer<Raw>;
    constexpr unsigned most = 40;
    with_range<Raw>([](detail::interval<Raw> firsts, const std::vector<Raw>& some_firsts) {
        with_range<Raw>([&](detail::interval<Raw> ends, const std::vector<Raw>& some_ends) {
            const number step(static_cast<Raw>(below(4) == 0 ? bound<Raw>() : static_cast<Raw>(below(9)))), fixed(bound<Raw>());
            const auto plain = values_below(firsts, ends), inclusive = values_through(firsts, ends);
            const auto from_one = values_below(values_of(fixed), ends), to_one = values_through(firsts, fixed);
            const auto counted = counted_below(firsts, ends, step), through = counted_through(firsts, ends, step);
            const auto limited = min(anything_like(fixed), fixed);
            known += plain.known + inclusive.known + from_one.known + to_one.known + counted.known + through.known + limited.known;
            const auto check = [](const char* what, auto values, number x, Raw other) {
                if (!holds(values, x.value)) {
                    fail_at(what, x.value, other);
                }
            };
            for (auto first : some_firsts) {
                check("a limited value", limited, min(number(first), fixed), fixed.value);
                for (auto end : some_ends) {
                    unsigned count = 0;
                    const auto each = [&](const char* what, auto values, auto range) {
                        count = 0;
                        for (auto value : range) {
                            check(what, values, value, end);
                            if (++count == most) {
                                break;
                            }
                        }
                    };
                    each("a range", plain, range(number(first), number(end)));
                    each("an inclusive range", inclusive, range_inclusive(number(first), number(end)));
                    each("a range from one", from_one, range(fixed, number(end)));
                    each("a range through one", to_one, range_inclusive(number(first), fixed));
                    count = 0;
                    for (auto i = number(first); i < number(end) && count < most; i += step, ++count) {
                        check("a counter inside", counted, i, end);
                    }
                    count = 0;
                    for (auto i = number(first); i <= number(end) && count < most; i += step, ++count) {
                        check("a counter inside through its bound", through, i, end);
                    }
                }
            }
        });
    });
}

int main() {
    for (int round = 0; round < 40000; ++round) {
        compare_spreads<int>();
        compare_limits<int>();
        compare_spreads<unsigned>();
        compare_limits<unsigned>();
        compare_spreads<long long>();
        compare_limits<long long>();
        compare_spreads<unsigned long long>();
        compare_limits<unsigned long long>();
        compare_spreads<unsigned char>();
        compare_limits<unsigned char>();
        compare_whiles<int>();
        compare_whiles<unsigned>();
        compare_whiles<long long>();
        compare_whiles<unsigned long long>();
        compare_whiles<unsigned char>();
        compare_other_steps<int>();
        compare_other_steps<unsigned>();
        compare_other_steps<unsigned long long>();
        if (round % 4 == 0) {
            compare_inner<int>();
            compare_inner<unsigned>();
            compare_inner<long long>();
            compare_inner<unsigned long long>();
            compare_inner<unsigned char>();
        }
        compare_steps<int>();
        compare_steps<unsigned>();
        compare_steps<long long>();
        compare_steps<unsigned long long>();
        compare_steps<unsigned char>();
        compare<int>();
        compare<unsigned>();
        compare<long long>();
        compare<unsigned long long>();
        compare<unsigned char>();
        compare<short>();
    }
    std::printf("%llu known results, %llu memories covered, %llu errors\n", known, covered, errors);
    return errors != 0 || known < 100000 || covered < 10000;
}
