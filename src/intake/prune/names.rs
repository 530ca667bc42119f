//! File names that say that nobody wrote the file by hand.
//!
//! The lists follow the conventions of the ecosystems themselves and what code hosts fold away.
//! How far a name alone is trusted is part of each rule: a lockfile is data that a tool writes,
//! but `build/` and `vendor/` hold hand-written code in many repositories and prune nothing alone.

use diffwarden_actors::model::RepoPath;

/// A kind of file, and what else has to hold for the file to be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NameRule {
    /// What people call such a file.
    pub(super) rule: &'static str,
    /// What else has to hold.
    pub(super) trust: Trust,
}

/// How far a name is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// The name is enough.
    Name,
    /// The contents have to be as dense as no person writes.
    Dense,
    /// The contents have to be a source map.
    SourceMap,
    /// A mark at the top of the file has to say the same.
    Header,
}

/// What dependency managers write down. Compared without regard to case.
const LOCKFILES: [&str; 40] = [
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "deno.lock",
    "cargo.lock",
    "poetry.lock",
    "pipfile.lock",
    "uv.lock",
    "pdm.lock",
    "pixi.lock",
    "conda-lock.yml",
    "pylock.toml",
    "gemfile.lock",
    "gems.locked",
    "composer.lock",
    "go.sum",
    "go.work.sum",
    "gopkg.lock",
    "glide.lock",
    "mix.lock",
    "rebar.lock",
    "pubspec.lock",
    "podfile.lock",
    "cartfile.resolved",
    "package.resolved",
    "packages.lock.json",
    "paket.lock",
    "gradle.lockfile",
    "buildscript-gradle.lockfile",
    "flake.lock",
    "module.bazel.lock",
    "cabal.project.freeze",
    "stack.yaml.lock",
    "renv.lock",
    "conan.lock",
    ".terraform.lock.hcl",
    "chart.lock",
];

/// Folders that tools fill, at any depth.
const TOOL_FOLDERS: [(&str, &str); 21] = [
    ("node_modules", "installed dependencies"),
    ("bower_components", "installed dependencies"),
    ("jspm_packages", "installed dependencies"),
    (".yarn", "installed dependencies"),
    ("site-packages", "installed dependencies"),
    ("godeps", "installed dependencies"),
    ("__pycache__", "build output"),
    (".next", "build output"),
    (".nuxt", "build output"),
    (".output", "build output"),
    (".svelte-kit", "build output"),
    (".turbo", "build output"),
    (".parcel-cache", "build output"),
    (".gradle", "build output"),
    (".dart_tool", "build output"),
    (".tox", "build output"),
    (".nyc_output", "build output"),
    (".pytest_cache", "build output"),
    (".mypy_cache", "build output"),
    ("htmlcov", "build output"),
    (".eggs", "build output"),
];

/// Folders that hold build output in some repositories and code in others.
const OUTPUT_FOLDERS: [&str; 6] = ["dist", "build", "out", "target", "public", "static"];

/// Ends of names that alone say enough.
const PLAIN_ENDS: [(&str, &str); 12] = [
    (".pyc", "build output"),
    (".pyo", "build output"),
    (".class", "build output"),
    (".tsbuildinfo", "build output"),
    (".egg-info/sources.txt", "build output"),
    ("/.pnp.cjs", "installed dependencies"),
    ("/.pnp.js", "installed dependencies"),
    ("/.pnp.loader.mjs", "installed dependencies"),
    ("/meta/_journal.json", "generated snapshot"),
    (".swp", "editor file"),
    ("/.ds_store", "editor file"),
    ("/thumbs.db", "editor file"),
];

/// Ends of names that tools give to bundles.
const DENSE_ENDS: [&str; 9] = [
    ".min.js",
    ".min.mjs",
    ".min.cjs",
    ".min.css",
    "-min.js",
    "-min.css",
    ".bundle.js",
    ".chunk.js",
    ".chunk.css",
];

/// Ends of names that generators of code give. The mark at the top has to agree.
const GENERATED_ENDS: [&str; 46] = [
    ".pb.go",
    ".pb.gw.go",
    "_grpc.pb.go",
    ".pb.cc",
    ".pb.h",
    ".pb.swift",
    ".grpc.swift",
    ".pb.dart",
    ".pbenum.dart",
    ".pbgrpc.dart",
    ".pbjson.dart",
    ".pbserver.dart",
    ".pb.rb",
    "_pb.rb",
    "_pb.js",
    "_pb.ts",
    "_pb.d.ts",
    "_grpc_pb.js",
    "_pb2.py",
    "_pb2.pyi",
    "_pb2_grpc.py",
    "_pb.php",
    ".g.dart",
    ".freezed.dart",
    ".gr.dart",
    ".mocks.dart",
    ".g.cs",
    ".g.i.cs",
    ".designer.cs",
    ".designer.vb",
    ".generated.cs",
    ".generated.ts",
    ".generated.tsx",
    ".generated.js",
    ".generated.go",
    ".generated.rs",
    ".generated.swift",
    ".generated.kt",
    ".gen.go",
    ".gen.ts",
    "_gen.go",
    "_generated.go",
    "_string.go",
    ".sql.go",
    "mock_gen.go",
    ".graphql.ts",
];

/// Folders whose name generators choose.
const GENERATED_FOLDERS: [&str; 6] = [
    "__generated__",
    "generated",
    "gen",
    "autogen",
    "_generated",
    "generated-sources",
];

/// Returns what the name of a file says.
pub(super) fn find(path: &RepoPath) -> Option<NameRule> {
    let lower = path.as_bytes().to_ascii_lowercase();
    let name = lower.rsplit(|&byte| byte == b'/').next()?;
    let folders: Vec<&[u8]> = lower.split(|&byte| byte == b'/').collect();
    let folders = &folders[..folders.len() - 1];
    let rule = |rule, trust| Some(NameRule { rule, trust });
    if LOCKFILES.iter().any(|lock| lock.as_bytes() == name) {
        return rule("lockfile", Trust::Name);
    }
    for (folder, kind) in TOOL_FOLDERS {
        if folders.contains(&folder.as_bytes()) {
            return rule(kind, Trust::Name);
        }
    }
    if is_go_vendor(folders) {
        return rule("installed dependencies", Trust::Name);
    }
    let rooted = [b"/", lower.as_slice()].concat();
    if let Some((_, kind)) = PLAIN_ENDS
        .iter()
        .find(|(end, _)| rooted.ends_with(end.as_bytes()))
    {
        return rule(kind, Trust::Name);
    }
    if is_snapshot(folders, name) {
        return rule("generated snapshot", Trust::Name);
    }
    if [
        &b".js.map"[..],
        b".css.map",
        b".mjs.map",
        b".cjs.map",
        b".d.ts.map",
        b".ts.map",
    ]
    .iter()
    .any(|end| name.ends_with(end))
    {
        return rule("source map", Trust::SourceMap);
    }
    if DENSE_ENDS.iter().any(|end| name.ends_with(end.as_bytes())) {
        return rule("minified file", Trust::Dense);
    }
    let is_script = [&b".js"[..], b".mjs", b".cjs", b".css"]
        .iter()
        .any(|end| name.ends_with(end));
    if is_script
        && OUTPUT_FOLDERS
            .iter()
            .any(|folder| folders.contains(&folder.as_bytes()))
    {
        return rule("build output", Trust::Dense);
    }
    let is_generated = GENERATED_ENDS
        .iter()
        .any(|end| name.ends_with(end.as_bytes()))
        || name.starts_with(b"zz_generated.")
        || GENERATED_FOLDERS
            .iter()
            .any(|folder| folders.contains(&folder.as_bytes()));
    if is_generated {
        return rule("generated code", Trust::Header);
    }
    None
}

/// Whether the file is a copy that Go's tools made: `vendor/` with the host of a module below it.
fn is_go_vendor(folders: &[&[u8]]) -> bool {
    folders.windows(2).any(|pair| {
        pair[0] == b"vendor" && pair[1].contains(&b'.') && !pair[1].starts_with(b".") && {
            let end = pair[1]
                .rsplit(|&byte| byte == b'.')
                .next()
                .unwrap_or_default();
            matches!(
                end,
                b"com" | b"org" | b"net" | b"io" | b"dev" | b"in" | b"fm" | b"me"
            )
        }
    })
}

/// Whether the file is a numbered snapshot of a database's schema, as migration tools write.
fn is_snapshot(folders: &[&[u8]], name: &[u8]) -> bool {
    let number = name.strip_suffix(b"_snapshot.json");
    folders.last() == Some(&&b"meta"[..])
        && number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}
