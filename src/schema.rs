//! JSON Schemas of the shapes that diffwarden writes and reads, generated from their types.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// Returns the schema of what a type is written as.
pub fn schema_of<T: JsonSchema>() -> Value {
    generate::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// Returns the schema of what a type is read from.
pub fn schema_of_input<T: JsonSchema>() -> Value {
    generate::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Value {
    settings
        .with_transform(Contract)
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

/// Says the things that the attributes of the types say in other words.
#[derive(Clone)]
struct Contract;

impl Transform for Contract {
    fn transform(&mut self, schema: &mut Schema) {
        // Readers of a schema have nowhere to follow a link between Rust items to.
        if let Some(Value::String(words)) = schema.get_mut("description") {
            *words = words.replace("[`", "`").replace("`]", "`");
        }
        let required = schema.get("required").cloned().unwrap_or_default();
        let is_required = |name: &str| {
            let names = required.as_array().into_iter().flatten();
            names.into_iter().any(|required| required == name)
        };
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            let optional = properties.iter_mut().filter(|(name, _)| !is_required(name));
            optional.for_each(|(_, property)| refuse_null(property));
        }
        transform_subschemas(self, schema);
    }
}

/// Takes `null` out of what a property may be: absent values are left out.
fn refuse_null(property: &mut Value) {
    let Value::Object(property) = property else {
        return;
    };
    if let Some(Value::Array(kinds)) = property.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = &kinds[..] {
            property["type"] = kind.clone();
        }
    }
    let Some(Value::Array(choices)) = property.get_mut("anyOf") else {
        return;
    };
    choices.retain(|choice| *choice != json!({"type": "null"}));
    if let [Value::Object(choice)] = &choices[..] {
        let choice = choice.clone();
        let place = property.keys().position(|key| key == "anyOf");
        property.shift_remove("anyOf");
        for (name, value) in choice {
            property.shift_insert(place.unwrap_or_default(), name, value);
        }
    }
}
