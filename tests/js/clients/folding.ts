/** One conversation's folding, in front of a client or behind it. */
import { foldBody, foldRequest, type Decision, type RequestOptions } from "warmfold";
import type { Line } from "./talks.js";

export class Folding {
  readonly decisions: Decision[] = [];
  #usage: RequestOptions["usage"];

  constructor(readonly options: RequestOptions) {}

  /** Whole requests, before the client has them. */
  before(url: string): Line {
    return { url, fold: (request) => this.#decided(foldRequest(request, this.#next())).request, counted: this.#counted };
  }

  /** Bytes, as a router has them. */
  behind(url: string): Line {
    return { url, fetch: this.fetch, fold: (request) => request, counted: this.#counted };
  }

  readonly fetch: typeof fetch = (to, init) => {
    const { body } = this.#decided(foldBody(new TextEncoder().encode(init!.body as string), this.#next()));
    return fetch(to, { ...init, body });
  };

  #next(): RequestOptions {
    return { ...this.options, plan: this.decisions.at(-1)?.plan ?? null, usage: this.#usage };
  }

  #decided<D extends Decision>(decision: D): D {
    this.decisions.push(decision);
    return decision;
  }

  readonly #counted = (inputTokens: number, upTo: number): void => {
    this.#usage = { inputTokens, upTo };
  };
}
