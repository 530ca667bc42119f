//! The diffwarden executable: reads the command line, runs it, ends with its exit code.

fn main() {
    let code = diffwarden::cli::main(
        std::env::args_os(),
        &diffwarden::env::Environment::of_process(),
    );
    // Not a return from `main`: a libgit2 call that hangs on a blocking thread must not hold up
    // the end of a run that has already said everything.
    std::process::exit(i32::from(code));
}
