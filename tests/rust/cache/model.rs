//! `cache::model`: what is found again, what is written, and when it dies.

use warmfold::cache::model::{Billed, Block, Cache, Request};
use warmfold::cache::profile::{Lookup, Profile};

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const MINUTE: f64 = 60_000.0;

/// Messages of one content block and a thousand tokens; the same number is the same message.
fn sent(prints: impl IntoIterator<Item = u64>) -> Vec<Block> {
    prints.into_iter().map(|print| Block { print, tokens: 1000, blocks: 1 }).collect()
}

fn plain(messages: &[Block]) -> Request<'_> {
    Request { messages, marks: None, at_ms: None, cold: false }
}

fn marked<'a>(messages: &'a [Block], marks: &'a [usize]) -> Request<'a> {
    Request { marks: Some(marks), ..plain(messages) }
}

fn named(name: &str) -> Cache {
    Cache::new(Profile::named(name).expect("a profile"))
}

fn billed(read: u64, written: u64, uncached: u64) -> Billed {
    Billed { read, written, uncached }
}

#[test]
fn what_was_sent_is_found_again() {
    let mut cache = Cache::lenient(Profile::default());
    assert_eq!(cache.bill(&plain(&sent(0..3))), billed(0, 3000, 0));
    assert_eq!(cache.bill(&plain(&sent(0..5))), billed(3000, 2000, 0));
    assert_eq!(cache.bill(&plain(&sent(0..5))), billed(5000, 0, 0));
    assert_eq!(cache.bill(&plain(&[])), billed(0, 0, 0));
}

#[test]
fn a_rewrite_in_the_middle_ends_the_prefix() {
    let mut cache = Cache::lenient(Profile::default());
    cache.bill(&plain(&sent([1, 2, 3, 4])));
    assert_eq!(cache.bill(&plain(&sent([1, 20, 3, 4, 5]))), billed(1000, 4000, 0));
    assert_eq!(cache.bill(&plain(&sent([1, 20, 3, 4, 5, 6]))), billed(5000, 1000, 0));
    assert_eq!(cache.bill(&plain(&sent([1, 2, 3, 4]))), billed(4000, 0, 0), "earlier requests count too, not only the last");
    assert_eq!(cache.bill(&plain(&sent([2, 1]))), billed(0, 2000, 0), "order counts");
}

#[test]
fn a_cold_request_finds_nothing_and_is_found() {
    let mut cache = Cache::lenient(Profile::default());
    cache.bill(&plain(&sent(0..3)));
    assert_eq!(cache.bill(&Request { cold: true, ..plain(&sent(0..3)) }), billed(0, 3000, 0));
    assert_eq!(cache.bill(&plain(&sent(0..4))), billed(3000, 1000, 0));
}

/// Anthropic checks twenty positions, the mark's own being the first: what lies nineteen blocks before it is reached.
#[test]
fn a_mark_looks_back_over_twenty_blocks() {
    for (added, read) in [(1, 2000), (19, 2000), (20, 0), (21, 0)] {
        let mut cache = named("anthropic-5m");
        cache.bill(&marked(&sent(0..2), &[1]));
        let messages = sent(0..2 + added);
        let tail = messages.len() - 1;
        let total = 1000 * messages.len() as u64;
        assert_eq!(cache.bill(&marked(&messages, &[tail])), billed(read, total - read, 0), "{added} blocks later");
    }
}

#[test]
fn blocks_count_for_the_look_back_not_messages() {
    let mut wide = sent(0..3);
    wide[2].blocks = 20;
    let bill = |marks: &[usize]| {
        let mut cache = named("anthropic-5m");
        cache.bill(&marked(&wide[..2], &[1]));
        cache.bill(&marked(&wide, marks))
    };
    assert_eq!(bill(&[2]), billed(0, 3000, 0));
    assert_eq!(bill(&[1, 2]), billed(2000, 1000, 0), "a second mark reaches it");
    let mut openai = named("openai-5.6");
    openai.bill(&marked(&wide[..2], &[1]));
    assert_eq!(openai.bill(&marked(&wide, &[2])), billed(2000, 1000, 0), "OpenAI's reach by marks, not by blocks");
}

#[test]
fn only_what_a_mark_wrote_is_found() {
    let mut cache = named("anthropic-5m");
    assert_eq!(cache.bill(&marked(&sent(0..6), &[1, 3])), billed(0, 4000, 2000));
    assert_eq!(cache.bill(&marked(&sent([0, 1, 2, 30, 4, 5]), &[5])), billed(2000, 4000, 0), "the third message ended in no mark");
    assert_eq!(cache.bill(&marked(&sent(0..6), &[])), billed(0, 0, 6000), "without a mark nothing is read");
    assert_eq!(cache.bill(&marked(&sent(0..6), &[0])), billed(0, 0, 6000), "nor behind the last; 1000 tokens are too few to write");
    assert_eq!(cache.bill(&marked(&sent(0..6), &[3, 9])), billed(4000, 0, 2000), "a mark outside is none");
}

#[test]
fn a_prefix_under_the_minimum_is_neither_written_nor_read() {
    let mut opus = Cache::new(Profile::of_model("claude-opus-4-5"));
    assert_eq!(opus.bill(&marked(&sent(0..4), &[3])), billed(0, 0, 4000));
    assert_eq!(opus.bill(&marked(&sent(0..5), &[3, 4])), billed(0, 5000, 0));
    assert_eq!(opus.bill(&marked(&sent(0..6), &[3, 5])), billed(5000, 1000, 0));
    let mut openai = named("openai");
    openai.bill(&plain(&sent(0..1)));
    assert_eq!(openai.bill(&plain(&sent(0..1))), billed(0, 0, 1000));
}

#[test]
fn a_read_is_rounded_down_to_steps() {
    let mut openai = named("openai");
    openai.bill(&plain(&sent(0..2)));
    assert_eq!(openai.bill(&plain(&sent(0..3))), billed(1920, 1080, 0), "15 × 128");
    let mut coarse = Cache::new(Profile { minimum_tokens: 1500, granularity_tokens: 1024, ..Profile::named("openai").unwrap() });
    coarse.bill(&plain(&sent(0..2)));
    assert_eq!(coarse.bill(&plain(&sent(0..3))), billed(0, 3000, 0), "1024 are under the minimum");
}

/// Marks matter to none but the providers that ask for them.
#[test]
fn an_automatic_cache_sees_no_marks() {
    for name in ["openai", "gemini", "deepseek", "mistral", "xai"] {
        let (mut with, mut without) = (named(name), named(name));
        for length in [6, 9] {
            assert_eq!(with.bill(&marked(&sent(0..length), &[0])), without.bill(&plain(&sent(0..length))), "{name}");
        }
    }
    let mut none = named("none");
    none.bill(&plain(&sent(0..6)));
    assert_eq!(none.bill(&plain(&sent(0..6))), billed(0, 0, 6000));
}

#[test]
fn an_entry_dies_unread_and_a_read_renews_it() {
    let messages = sent(0..4);
    for (name, life) in [("anthropic-5m", 5.0), ("anthropic-1h", 60.0), ("openai-5.6", 30.0)] {
        let mut cache = named(name);
        let mut read = |minutes: f64| cache.bill(&Request { at_ms: Some(minutes * MINUTE), ..marked(&messages, &[3]) }).read;
        assert_eq!([read(0.0), read(life), read(2.0 * life), read(3.0 * life + 0.001)], [0, 4000, 4000, 0], "{name}");
    }
}

/// The system prompt's entry lives on its own mark, whatever became of the rest.
#[test]
fn each_entry_dies_on_its_own() {
    let mut cache = named("anthropic-5m");
    let mut bill =
        |prints: [u64; 4], marks: &[usize], minutes: f64| cache.bill(&Request { at_ms: Some(minutes * MINUTE), ..marked(&sent(prints), marks) }).read;
    bill([1, 2, 3, 4], &[1, 3], 0.0);
    assert_eq!(bill([1, 2, 5, 6], &[1, 3], 4.0), 2000);
    assert_eq!(bill([1, 2, 3, 4], &[1, 3], 6.0), 2000, "the first request's tail is six minutes old");
}

#[test]
fn without_times_nothing_dies() {
    let mut cache = named("anthropic-5m");
    let messages = sent(0..4);
    let mut read = |at_ms: Option<f64>| cache.bill(&Request { at_ms, ..marked(&messages, &[3]) }).read;
    assert_eq!([read(None), read(None), read(Some(1e12)), read(None), read(Some(1e12 + 5.0 * MINUTE))], [0, 4000, 4000, 4000, 4000]);
}

#[test]
fn a_bill_is_in_uncached_tokens() {
    let hour = Profile::named("anthropic-1h").unwrap();
    assert_eq!(billed(1000, 100, 10).cost(&hour), 100.0 + 200.0 + 10.0);
    assert_eq!(billed(1000, 100, 10).cost(&Profile::named("none").unwrap()), 1110.0);
    assert_eq!(Profile::named("openai").unwrap().lookup, Lookup::Prefix);
}

#[cfg(not(target_arch = "wasm32"))]
mod laws {
    use proptest::prelude::*;

    use super::*;

    /// One request of a run: what it cuts off the last one, which message takes a new form, and what it appends.
    #[derive(Clone, Debug)]
    struct Step {
        cut: usize,
        edit: usize,
        append: usize,
        marks: Vec<usize>,
        minutes: f64,
        cold: bool,
    }

    fn block(print: u64) -> Block {
        Block { print, tokens: print * 7919 % 1500, blocks: (print % 7) as u32 }
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let marks = prop::collection::vec(0usize..40, 0..4);
        let step = (prop_oneof![3 => Just(0), 1 => 0usize..9], 0usize..60, 0usize..12, marks, 0.0..7.0f64, prop::bool::weighted(0.1))
            .prop_map(|(cut, edit, append, marks, minutes, cold)| Step { cut, edit, append, marks, minutes, cold });
        prop::collection::vec(step, 1..12)
    }

    /// Each step's messages. Nothing ever goes back to an earlier form, since every new form has a new print.
    fn requests(steps: &[Step]) -> Vec<Vec<Block>> {
        let (mut new, mut messages) = ((1..).map(block), Vec::new());
        let run = |step: &Step| {
            messages.truncate(messages.len().saturating_sub(step.cut));
            if let Some(edited) = messages.get_mut(step.edit) {
                *edited = new.next().unwrap();
            }
            messages.extend(new.by_ref().take(step.append));
            messages.clone()
        };
        steps.iter().map(run).collect()
    }

    fn profile() -> impl Strategy<Value = Profile> {
        let names = ["anthropic-5m", "anthropic-1h", "openai", "openai-4.1", "openai-5.6", "gemini", "deepseek", "mistral", "xai", "none"];
        prop::sample::select(names.to_vec()).prop_map(|name| Profile::named(name).unwrap())
    }

    fn tokens(messages: &[Block]) -> u64 {
        messages.iter().map(|block| block.tokens).sum()
    }

    fn common(one: &[Block], other: &[Block]) -> usize {
        one.iter().zip(other).take_while(|(one, other)| one.print == other.print).count()
    }

    proptest! {
        #![proptest_config(crate::laws::cases(500))]

        /// Every token is billed once, and what is read was sent.
        #[test]
        fn a_bill_is_the_request(profile in profile(), steps in steps(), with_marks in any::<bool>()) {
            let mut cache = Cache::new(profile);
            let (mut before, mut now): (Vec<Vec<Block>>, f64) = (Vec::new(), 0.0);
            for (step, messages) in steps.iter().zip(requests(&steps)) {
                now += step.minutes * MINUTE;
                let marks = with_marks.then_some(step.marks.as_slice());
                let bill = cache.bill(&Request { messages: &messages, marks, at_ms: Some(now), cold: step.cold });
                prop_assert_eq!(bill.read + bill.written + bill.uncached, tokens(&messages));
                let shared = before.iter().map(|earlier| tokens(&messages[..common(earlier, &messages)])).max().unwrap_or(0);
                prop_assert!(bill.read <= shared, "{} read of {} ever sent", bill.read, shared);
                prop_assert!(bill.read == 0 || bill.read >= u64::from(profile.minimum_tokens));
                prop_assert_eq!(bill.read % u64::from(profile.granularity_tokens), 0);
                prop_assert!(!step.cold || bill.read == 0);
                before.push(messages);
            }
        }

        /// Marks find no more than a cache that finds everything.
        #[test]
        fn marks_never_read_more(steps in steps(), hour in any::<bool>()) {
            let profile = Profile::named(if hour { "anthropic-1h" } else { "anthropic-5m" }).unwrap();
            let (mut with, mut without) = (Cache::new(profile), Cache::new(profile));
            for (step, messages) in steps.iter().zip(requests(&steps)) {
                let request = Request { cold: step.cold, ..plain(&messages) };
                let all = without.bill(&request).read;
                let some = with.bill(&Request { marks: Some(&step.marks), ..request }).read;
                prop_assert!(some <= all, "{some} read with marks, {all} without");
            }
        }

        /// Having more in common with an earlier request never reads less.
        #[test]
        fn a_longer_common_prefix_never_reads_less(profile in profile(), length in 1usize..40, share in 0usize..40, more in 0usize..10) {
            let first: Vec<Block> = (1..=length as u64).map(block).collect();
            let read = |shared: usize| {
                let mut cache = Cache::new(profile);
                cache.bill(&plain(&first));
                let mut second = first.clone();
                second.iter_mut().skip(shared).for_each(|block| block.print += 1_000_000);
                cache.bill(&plain(&second)).read
            };
            prop_assert!(read(share) <= read(share + more));
        }

        /// Asking at one more place never reads less.
        #[test]
        fn a_further_mark_never_reads_less(steps in steps(), further in 0usize..40) {
            let mut cache = Cache::new(Profile::default());
            for (step, messages) in steps.iter().zip(requests(&steps)) {
                let more: Vec<usize> = step.marks.iter().copied().chain([further]).collect();
                let read = cache.clone().bill(&marked(&messages, &more)).read;
                prop_assert!(cache.bill(&marked(&messages, &step.marks)).read <= read);
            }
        }

        /// The scorer's own sum: r × what the last request had in common, w × the rest. Messages only ever take new forms, so looking at
        /// all earlier requests finds no more.
        #[test]
        fn the_lenient_cache_is_the_scorers(steps in steps()) {
            let profile = Profile::default();
            let (mut cache, mut last) = (Cache::lenient(profile), Vec::new());
            for (step, messages) in steps.iter().zip(requests(&steps)) {
                let cost = cache.bill(&Request { cold: step.cold, ..plain(&messages) }).cost(&profile);
                let shared = if step.cold { 0 } else { tokens(&messages[..common(&last, &messages)]) };
                let expected = shared as f64 * profile.read + (tokens(&messages) - shared) as f64 * profile.write;
                prop_assert!((cost - expected).abs() < 1e-6, "{cost}, the scorer says {expected}");
                last = messages;
            }
        }

        /// A mark at the tail of every call pays r for the last request and w for what is new, where each call adds fewer than 20 blocks.
        #[test]
        fn an_append_only_run_pays_for_what_is_new(added in prop::collection::vec(1u64..4, 1..20)) {
            let profile = Profile { minimum_tokens: 0, ..Profile::default() };
            let mut cache = Cache::new(profile);
            let (mut messages, mut before): (Vec<Block>, u64) = (Vec::new(), 0);
            for count in added {
                let from = messages.len() as u64;
                messages.extend((from..from + count).map(block));
                let tail = [messages.len() - 1];
                let cost = cache.bill(&marked(&messages, &tail)).cost(&profile);
                let expected = before as f64 * profile.read + (tokens(&messages) - before) as f64 * profile.write;
                prop_assert!((cost - expected).abs() < 1e-6, "{cost}, expected {expected}");
                before = tokens(&messages);
            }
        }
    }
}

/// What a request begins with as the last did is not written out again, and all the same it lives as long as if it were.
#[test]
fn what_is_sent_again_is_renewed() {
    let at = |minutes: f64, messages: &[Block], cache: &mut Cache| cache.bill(&Request { at_ms: Some(minutes * MINUTE), ..plain(messages) });
    let mut cache = Cache::lenient(Profile::default());
    at(0.0, &sent(0..3), &mut cache);
    at(4.0, &sent(0..5), &mut cache);
    assert_eq!(at(8.0, &sent(0..5), &mut cache), billed(5000, 0, 0));
    assert_eq!(at(12.0, &sent([0, 1, 9]), &mut cache), billed(2000, 1000, 0), "its beginning was renewed with it");
    assert_eq!(at(14.0, &sent(0..5), &mut cache), billed(2000, 3000, 0), "what lay behind was not");

    let mut cache = Cache::lenient(Profile::default());
    assert_eq!(cache.bill(&marked(&sent(0..3), &[2])), billed(0, 3000, 0));
    assert_eq!(cache.bill(&plain(&sent(0..3))), billed(3000, 0, 0));
    assert_eq!(cache.bill(&plain(&sent(0..2))), billed(2000, 0, 0), "without marks every message was written");
    assert_eq!(cache.bill(&Request { cold: true, ..plain(&sent(0..2)) }), billed(0, 2000, 0));
    assert_eq!(cache.bill(&plain(&sent(0..3))), billed(2000, 1000, 0), "and again after it was gone");
}
