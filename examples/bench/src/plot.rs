//! Pictures of the table, as SVG: the time of each kernel, and its share of the copy bandwidth, over the size of the
//! problem.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use plotters::prelude::*;

use crate::Result;
use crate::table::{Row, Table};

/// Draws two pictures for each showcase that has a version at several sizes, and returns the names of the files.
pub fn draw(table: &Table, folder: &Path) -> Result<Vec<String>> {
    let mut showcases: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    table.rows.iter().for_each(|row| showcases.entry(&row.showcase).or_default().push(row));
    let mut files = Vec::new();
    for (name, rows) in showcases {
        let shares = lines(&rows, |row, time| 100.0 * table.floor(row) / time);
        if shares.values().all(|points| points.len() == 1) {
            continue;
        }
        let times = lines(&rows, |_, time| time);
        for (suffix, label, lines) in [("", "share of the copy bandwidth, %", shares), ("-time", "time, µs", times)] {
            let file = format!("{name}{suffix}.svg");
            let picture = Picture { path: &folder.join(&file), name, unit: &rows[0].unit, label, lines: &lines };
            picture.draw().map_err(|error| format!("{file}: {error}"))?;
            files.push(file);
        }
    }
    Ok(files)
}

/// A value for each size, for each implementation.
type Lines = BTreeMap<String, BTreeMap<u64, f64>>;

fn lines(rows: &[&Row], value: impl Fn(&Row, f64) -> f64) -> Lines {
    let mut lines = Lines::new();
    for row in rows {
        // A version's name ends with what depends on the size.
        let version = row.version.split(',').next().unwrap_or_default();
        let mut add = |name: String, time: f64| {
            lines.entry(name).or_default().insert(row.size, value(row, time));
        };
        add(format!("{version}: Phalanx"), row.ours.median);
        add(format!("{version}: by hand"), row.twin.median);
        row.libraries.iter().for_each(|one| add(one.name.clone(), one.times.median));
    }
    lines
}

/// A chart of lines over sizes.
struct Picture<'a> {
    path: &'a Path,
    name: &'a str,
    /// The name of the things that a size counts, such as columns.
    unit: &'a str,
    /// The quantity that the lines show.
    label: &'a str,
    lines: &'a Lines,
}

impl Picture<'_> {
    fn draw(&self) -> Result<()> {
        let area = SVGBackend::new(self.path, (760, 420)).into_drawing_area();
        area.fill(&WHITE)?;
        let sizes: BTreeSet<u64> = self.lines.values().flat_map(|points| points.keys().copied()).collect();
        let sizes: Vec<f64> = sizes.into_iter().map(|size| size as f64).collect();
        let highest = self.lines.values().flat_map(|points| points.values()).fold(0.0, |a: f64, &b| a.max(b)) * 1.1;
        let (least, most) = (sizes[0], sizes[sizes.len() - 1]);
        let mut chart = ChartBuilder::on(&area)
            .caption(self.name, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(50)
            .build_cartesian_2d((least / 1.3..most * 1.3).log_scale().with_key_points(sizes), 0.0..highest)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_desc(self.unit)
            .y_desc(self.label)
            .x_label_formatter(&|size| format!("{size:.0}"))
            .y_label_formatter(&|value| format!("{value:.0}"))
            .draw()?;
        for (at, (name, points)) in self.lines.iter().enumerate() {
            let color = Palette99::pick(at).to_rgba();
            let points = || points.iter().map(|(&size, &value)| (size as f64, value));
            chart
                .draw_series(LineSeries::new(points(), color.stroke_width(2)))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2)));
            chart.draw_series(points().map(|point| Circle::new(point, 3, color.filled())))?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK)
            .draw()?;
        area.present()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Measured;
    use crate::timing::Times;

    #[test]
    fn a_showcase_of_several_sizes_has_a_picture() {
        let row = |showcase: &str, size: u64| {
            let time = |median| Times { median, low: median, high: median };
            Row {
                showcase: showcase.into(),
                version: "plain, cluster of 8".into(),
                size,
                unit: "columns".into(),
                bytes: 3_000_000,
                ours: time(2.0 + 1e4 / size as f64),
                twin: time(2.0),
                problem: None,
                libraries: Vec::new(),
            }
        };
        let rows = vec![row("softmax", 8_192), row("softmax", 32_768), row("softmax", 131_072), row("reduce", 100)];
        let table = Table::new("GPU 0".into(), Measured { copy_bandwidth: 3e6, rows, failures: Vec::new() });
        let folder = std::env::temp_dir().join(format!("phalanx-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        assert_eq!(draw(&table, &folder).unwrap(), ["softmax.svg", "softmax-time.svg"]);
        let picture = std::fs::read_to_string(folder.join("softmax.svg")).unwrap();
        assert!(picture.contains("plain: by hand") && picture.contains("columns"), "{picture}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
