//! Pictures of the table, as SVG: the bandwidth of each kernel over the size of its problem.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use plotters::prelude::*;

use crate::Result;
use crate::table::{Row, Table};

/// Draws a picture for each showcase that has a version at several sizes, and returns the names of the files.
pub fn draw(table: &Table, folder: &Path) -> Result<Vec<String>> {
    let mut showcases: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    table.rows.iter().for_each(|row| showcases.entry(&row.showcase).or_default().push(row));
    let mut files = Vec::new();
    for (name, rows) in showcases {
        let lines = lines(table, &rows);
        if lines.values().any(|points| points.len() > 1) {
            let file = format!("{name}.svg");
            picture(&folder.join(&file), name, rows[0], &lines).map_err(|error| format!("{file}: {error}"))?;
            files.push(file);
        }
    }
    Ok(files)
}

/// The share of the floor for each size, for each implementation.
type Lines = BTreeMap<String, BTreeMap<u64, f64>>;

fn lines(table: &Table, rows: &[&Row]) -> Lines {
    let mut lines = Lines::new();
    for row in rows {
        // A version's name ends with what depends on the size.
        let version = row.version.split(',').next().unwrap_or_default();
        let mut add = |name: String, time: f64| {
            lines.entry(name).or_default().insert(row.size, 100.0 * table.floor(row) / time);
        };
        add(format!("{version}: Phalanx"), row.ours.median);
        add(format!("{version}: by hand"), row.twin.median);
        row.libraries.iter().for_each(|one| add(one.name.clone(), one.times.median));
    }
    lines
}

fn picture(path: &Path, name: &str, row: &Row, lines: &Lines) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::new(path, (760, 420)).into_drawing_area();
    area.fill(&WHITE)?;
    let sizes: BTreeSet<u64> = lines.values().flat_map(|points| points.keys().copied()).collect();
    let sizes: Vec<f64> = sizes.into_iter().map(|size| size as f64).collect();
    let (least, most) = (sizes[0], sizes[sizes.len() - 1]);
    let mut chart = ChartBuilder::on(&area)
        .caption(name, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(50)
        .build_cartesian_2d((least / 1.3..most * 1.3).log_scale().with_key_points(sizes), 0.0..110.0)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc(row.unit.as_str())
        .y_desc("share of the copy bandwidth, %")
        .x_label_formatter(&|size| format!("{size:.0}"))
        .y_label_formatter(&|share| format!("{share:.0}"))
        .draw()?;
    for (at, (name, points)) in lines.iter().enumerate() {
        let color = Palette99::pick(at).to_rgba();
        let points = || points.iter().map(|(&size, &share)| (size as f64, share));
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
        assert_eq!(draw(&table, &folder).unwrap(), ["softmax.svg"]);
        let picture = std::fs::read_to_string(folder.join("softmax.svg")).unwrap();
        assert!(picture.contains("plain: by hand") && picture.contains("columns"), "{picture}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
