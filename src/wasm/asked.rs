//! What a call asks for: `{ options, said, plan }` on a tape. No plan is a derived one, `null` a new conversation.

use std::rc::Rc;

use crate::options::{Options, Said};
use crate::plan::{Edit, Plan};
use crate::planner::Given;
use crate::tape::{Kind, Node};
use crate::wire::Request;

pub(super) struct Asked {
    pub(super) options: Options,
    pub(super) given: Given,
    /// The edits of the plan that was given.
    pub(super) edits: Option<Vec<Rc<Edit>>>,
}

impl Asked {
    /// Of this request, which may name its model.
    pub(super) fn read(asked: Node<'_>, request: Node<'_>) -> crate::Result<Asked> {
        let (given, edits) = match asked.get("plan") {
            None => (Given::Derive, None),
            Some(plan) if plan.kind() == Kind::Null => (Given::New, None),
            Some(plan) => carried(Plan::read(plan)?),
        };
        Ok(Asked { options: options(asked, request)?, given, edits })
    }

    /// With a plan that is known already.
    pub(super) fn with(self, plan: Plan) -> Asked {
        let (given, edits) = carried(plan);
        Asked { given, edits, ..self }
    }
}

/// The plan that is given, if one is.
pub(super) fn plan(asked: Node<'_>) -> crate::Result<Option<Plan>> {
    asked.get("plan").filter(|plan| plan.kind() != Kind::Null).map(Plan::read).transpose()
}

fn carried(plan: Plan) -> (Given, Option<Vec<Rc<Edit>>>) {
    let edits = plan.edits.clone();
    (Given::Carried(plan), Some(edits))
}

/// The request; `alone` says that only its messages are returned.
pub(super) fn request<'t>(asked: Node<'_>, node: Node<'t>) -> Request<'t> {
    Request { is_whole: asked.get("alone").is_none(), ..Request::of(node) }
}

/// What is said of one call alone stands apart, so that the rest can be told to be the same.
pub(super) fn options(asked: Node<'_>, request: Node<'_>) -> crate::Result<Options> {
    let model = Request::of(request).model;
    let options = asked.get("options").map_or(Ok(Options::default()), |options| Options::read_for(options, model))?;
    let Said { cold, usage, calibration } =
        asked.get("said").map_or(Ok(Said::default()), |said| Options::read(said).map(|options| options.said()))?;
    Ok(Options { cold, usage, calibration, ..options })
}
