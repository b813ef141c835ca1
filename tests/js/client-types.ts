/** The providers' own types go in without a cast and come back as themselves. Checked by `tsc --noEmit`, never run. */
import type { Anthropic } from "@anthropic-ai/sdk";
import { generateText, streamText, type LanguageModel, type ModelMessage, type ToolSet } from "ai";
import type { OpenAI } from "openai";
import type { ResponseCreateParams, ResponseCreateParamsNonStreaming, ResponseCreateParamsStreaming, ResponseInput, ResponseInputItem } from "openai/resources/responses/responses";
import { decide, fold, foldRequest, render, replay, type FoldRequestResult, type FoldResult, type Plan } from "warmfold";
import { warmfold } from "warmfold/ai-sdk";

type Chat = OpenAI.ChatCompletionMessageParam;
type ChatWhole = OpenAI.ChatCompletionCreateParamsNonStreaming;
type ChatStreamed = OpenAI.ChatCompletionCreateParamsStreaming;
type MessagesWhole = Anthropic.MessageCreateParamsNonStreaming;
type MessagesStreamed = Anthropic.MessageCreateParamsStreaming;

type Same<Left, Right> = (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false;
const same = <Left, Right>(_: Same<Left, Right>): void => {};

export function messagesComeBackAsThemselves(chat: Chat[], messages: Anthropic.MessageParam[], input: ResponseInput, model: ModelMessage[], plan: Plan): void {
  const [ofChat, ofMessages, ofInput, ofModel] = [fold(chat), fold(messages), fold(input), fold(model)];
  same<typeof ofChat, FoldResult<Chat>>(true);
  same<typeof ofMessages.messages, Anthropic.MessageParam[]>(true);
  same<typeof ofInput.messages, ResponseInput>(true);
  same<typeof ofModel.messages, ModelMessage[]>(true);
  const again = { chat: render(chat, plan), messages: render(messages, plan), input: render(input, plan), model: render(model, plan) };
  same<typeof again.chat.messages, Chat[]>(true);
  same<typeof again.input.messages, ResponseInputItem[]>(true);
  for (const { plan } of [decide(chat), decide(messages), decide(input), decide(model)]) plan satisfies Plan;
  for (const { cost } of [replay(chat), replay(messages), replay(input), replay(model)]) cost satisfies number;
  const beta: Anthropic.Beta.BetaMessageParam[] = fold<Anthropic.Beta.BetaMessageParam>(messages).messages;
  fold(beta).messages satisfies Anthropic.Beta.BetaMessageParam[];
  // @ts-expect-error Chat messages are no messages of Anthropic's
  ofChat.messages satisfies Anthropic.MessageParam[];
  // @ts-expect-error items of Responses are no Chat messages
  ofInput.messages satisfies Chat[];
  // @ts-expect-error nor are the AI SDK's
  ofModel.messages satisfies Chat[];
}

export function whatIsReadOnlyGoesIn(chat: readonly Chat[], messages: readonly Anthropic.MessageParam[], input: Readonly<ResponseInput>, model: readonly Readonly<ModelMessage>[], either: Chat[] | readonly Anthropic.MessageParam[]): void {
  fold(chat).messages satisfies Chat[];
  fold(messages).messages satisfies Anthropic.MessageParam[];
  fold(input).messages satisfies ResponseInput;
  fold(model).messages satisfies ModelMessage[];
  // A constant is its literals: what comes back is mutable and fits where they do.
  const constant = [{ role: "system", content: "Be brief." }, { role: "user", content: "Hi" }, { role: "assistant", content: "Hello." }] as const;
  const folded = fold(constant).messages;
  same<(typeof folded)[number]["role"], "system" | "user" | "assistant">(true);
  folded satisfies Chat[] satisfies ModelMessage[];
  // @ts-expect-error Anthropic's system prompt is no message, in its types
  folded satisfies { role: "user" | "assistant" }[];
  // Of a union of arrays, as a router for several providers may have one, the compiler has to be told what they hold.
  fold<Chat | Anthropic.MessageParam>(either).messages satisfies (Chat | Anthropic.MessageParam)[];
  // @ts-expect-error what comes back is no longer read-only, but what goes in is
  chat.push(...fold(chat).messages);
}

export function requestsComeBackAsThemselves(chat: ChatWhole, chatStreamed: ChatStreamed, messages: MessagesWhole, messagesStreamed: MessagesStreamed, input: ResponseCreateParamsNonStreaming, inputStreamed: ResponseCreateParamsStreaming): void {
  const ofChat = foldRequest(chat);
  same<typeof ofChat, FoldRequestResult<ChatWhole>>(true);
  foldRequest(chatStreamed).request satisfies ChatStreamed;
  foldRequest(messages).request satisfies MessagesWhole;
  foldRequest(messagesStreamed).request satisfies MessagesStreamed;
  foldRequest(input).request satisfies ResponseCreateParamsNonStreaming;
  foldRequest(inputStreamed).request satisfies ResponseCreateParamsStreaming;
  foldRequest(Object.freeze(chat)).request satisfies Readonly<ChatWhole>;
  // @ts-expect-error it does not stream
  ofChat.request satisfies ChatStreamed;
  // @ts-expect-error the request is no list of messages
  fold(chat);
  // @ts-expect-error nor is the list a request
  foldRequest("Hi");
}

export async function whatClientsAnswerIsStillKnown(openai: OpenAI, anthropic: Anthropic, chat: ChatWhole, streamed: ChatStreamed, either: OpenAI.ChatCompletionCreateParams, messages: MessagesWhole, union: Anthropic.MessageCreateParams, input: ResponseCreateParamsNonStreaming, items: ResponseCreateParams): Promise<void> {
  (await openai.chat.completions.create(foldRequest(chat).request)) satisfies OpenAI.ChatCompletion;
  for await (const chunk of await openai.chat.completions.create(foldRequest(streamed).request)) chunk satisfies OpenAI.ChatCompletionChunk;
  same<Awaited<ReturnType<typeof create>>, Awaited<ReturnType<typeof createdFolded>>>(true);
  (await openai.responses.create(foldRequest(input).request)).output_text satisfies string;
  await openai.responses.create(foldRequest(items).request);
  (await anthropic.messages.create(foldRequest(messages).request)) satisfies Anthropic.Message;
  await anthropic.messages.create(foldRequest(union).request);
  (await anthropic.messages.stream(foldRequest(messages).request).finalMessage()) satisfies Anthropic.Message;
  (await anthropic.messages.countTokens(foldRequest<Anthropic.MessageCountTokensParams>({ model: "claude-opus-4-5", messages: messages.messages }).request)).input_tokens satisfies number;
  // @ts-expect-error it does not stream, so there is nothing to go through
  for await (const _ of await openai.chat.completions.create(foldRequest(chat).request));

  function create() {
    return openai.chat.completions.create(either);
  }
  function createdFolded() {
    return openai.chat.completions.create(foldRequest(either).request);
  }
}

/** `satisfies` keeps literals what they are. */
export async function whatIsWrittenInPlaceKeepsItsLiterals(openai: OpenAI, anthropic: Anthropic): Promise<void> {
  const { request } = foldRequest({ model: "gpt-5", stream: true, messages: [{ role: "user", content: "Hi" }] } satisfies ChatStreamed);
  for await (const chunk of await openai.chat.completions.create(request)) chunk.id satisfies string;
  const message = await anthropic.messages.create(foldRequest({ model: "claude-opus-4-5", max_tokens: 10, messages: [{ role: "user", content: "Hi" }] } satisfies MessagesWhole).request);
  message.usage.input_tokens satisfies number;
  fold([{ role: "user", content: "Hi" }] satisfies Chat[]).messages satisfies Chat[];
  fold<ModelMessage>([{ role: "user", content: "Hi" }]).messages satisfies ModelMessage[];
  // @ts-expect-error without it the role is any text, as in every call of a function
  fold([{ role: "user", content: "Hi" }]).messages satisfies Chat[];
}

/** Of Responses, whose input may be a text. */
export function anInputIsNarrowedFirst({ input }: ResponseCreateParams): void {
  if (Array.isArray(input)) fold(input).messages satisfies ResponseInput;
  // @ts-expect-error a text has nothing to fold
  fold(input);
}

export async function stepsOfTheAiSdkAreFolded(model: LanguageModel, tools: ToolSet, messages: ModelMessage[]): Promise<void> {
  const { response } = await generateText({ model, tools, messages, prepareStep: warmfold({ marks: "anthropic", tools }) });
  fold([...messages, ...response.messages]).messages satisfies ModelMessage[];
  streamText({ model, tools, messages: fold(messages).messages, prepareStep: warmfold() });
  // @ts-expect-error a format is not asked for here
  generateText({ model, messages, prepareStep: warmfold({ format: "anthropic" }) });
}
