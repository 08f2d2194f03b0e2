//! Prints the CUDA C++ of the kernels whose `module::kernel` contains the argument.

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    for module in phalanx_ui_tests::kernels::modules() {
        for kernel in &module.kernels {
            let name = format!("{}::{}", module.name, kernel.name);
            if name.contains(&filter) {
                match (kernel.program)() {
                    Ok(program) => println!("// {name}\n{}", program.cuda_source()),
                    Err(error) => println!("// {name}: {error}"),
                }
            }
        }
    }
}
