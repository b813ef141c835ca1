//! JSON text as JavaScript writes it.

use proptest::prelude::*;
use warmfold::Tape;

fn stringified(json: &str) -> String {
    Tape::from_json(json).unwrap().root().stringified().unwrap()
}

/// What `JSON.stringify(JSON.parse(text))` gives.
#[test]
fn as_javascript_spells_it() {
    let same = [
        "0",
        "1",
        "-1",
        "1.5",
        "-0.1",
        "123456789012345680000",
        "100000000000000000000",
        "1e+21",
        "-1.5e+300",
        "0.000001",
        "1e-7",
        "-1.25e-7",
        "5e-324",
        "1.7976931348623157e+308",
        "0.00012",
        "9007199254740993.5e0",
        "\"\\u001f\\b\\f\\n\\r\\t\\\"\\\\/\u{7f}\u{2028}深\"",
        "[]",
        "{}",
        "[null,true,false,[{}]]",
        "{\"b\":1,\"a\":2}",
    ];
    for json in same {
        let expected = if json.starts_with("9007") { "9007199254740994" } else { json };
        assert_eq!(stringified(json), expected);
    }
    assert_eq!(stringified("[-0, 1.0, 1e3, 1E-2, 1e400, 0e9, 1000000000000000000000, 0.1e-6]"), "[0,1,1000,0.01,null,0,1e+21,1e-7]");
    assert_eq!(
        stringified(r#"{"b":1,"10":2,"9":3,"01":4,"4294967294":5,"4294967295":6,"-1":7,"0":8}"#),
        r#"{"0":8,"9":3,"10":2,"4294967294":5,"b":1,"01":4,"4294967295":6,"-1":7}"#
    );
    assert_eq!(stringified("{\"\\u0061\" : 1, \"a\": [ 2 ]}"), "{\"a\":[2]}", "the last of one name");
}

proptest! {
    #![proptest_config(crate::laws::cases(2000))]

    #[test]
    fn numbers_are_read_back(bits in any::<u64>(), short in -99_999i64..99_999, places in -25i32..25) {
        for number in [f64::from_bits(bits), short as f64 * 10f64.powi(places)].into_iter().filter(|number| number.is_finite()) {
            let text = stringified(&serde_json::Value::from(number).to_string());
            prop_assert_eq!(text.parse::<f64>().unwrap(), number, "{}", text);
        }
    }
}
