/** Requests to Anthropic Messages and OpenAI Chat, as far as the twins need to know them. */

export interface Block {
  type?: string;
  text?: string;
  id?: string;
  tool_use_id?: string;
  is_error?: boolean;
  input?: unknown;
  thinking?: string;
  signature?: string;
  data?: string;
  title?: string;
  source?: string | { type?: string; data?: string };
  citations?: { enabled?: boolean };
  content?: string | (string | Block)[];
  cache_control?: { type?: string; ttl?: string } | null;
  defer_loading?: boolean;
}

export interface Message {
  role: string;
  content: string | Block[] | null;
  tool_call_id?: string;
  is_error?: boolean;
}

export interface Request {
  system?: string | Block[];
  tools?: Block[];
  messages: Message[];
  cache_control?: Block["cache_control"];
}

export const blocksOf = ({ content }: Message): Block[] => (Array.isArray(content) ? content : []);
export const isThinking = ({ type }: Block): boolean => type === "thinking" || type === "redacted_thinking";
export const isImage = ({ type }: Block): boolean => type === "image" || type === "image_url";

/** An answer of thinking alone, which a Chat history does not have. */
export function isThoughtOnly(message: Message): boolean {
  const blocks = blocksOf(message);
  return message.role === "assistant" && blocks.length > 0 && blocks.every(isThinking);
}

/** The images of a message, those in results too. */
export function imagesOf(message: Message): Block[] {
  const inside = (block: Block) => (Array.isArray(block.content) ? block.content.filter((item) => typeof item === "object") : []);
  return blocksOf(message).flatMap((block) => [block, ...inside(block)]).filter(isImage);
}

/** A text of a result that may be shortened: its address, and which text of which result of the conversation it is. */
export interface ResultText {
  message: number;
  part: number;
  result: number;
  nth: number;
  text: string;
}

/** All of them, in either format. */
export function resultTexts({ messages }: Request): ResultText[] {
  let result = 0;
  return messages.flatMap((said, message) => {
    if (said.role === "tool") {
      const parts = typeof said.content === "string" ? [said.content] : blocksOf(said).map(({ text }) => text);
      const number = result++;
      const texts = parts.flatMap((text, part) => (typeof text === "string" ? [{ text, part }] : []));
      return texts.map(({ text, part }, nth) => ({ message, part, result: number, nth, text }));
    }
    const blocks = said.role === "user" ? blocksOf(said) : [];
    let further = blocks.length;
    return blocks.flatMap((block, part) => {
      if (block.type !== "tool_result") return [];
      const number = result++;
      return textsIn(block).map((text, nth) => ({ message, part: nth === 0 ? part : further++, result: number, nth, text }));
    });
  });
}

/** Texts of a `tool_result`, in order. */
function textsIn({ content }: Block): string[] {
  if (!Array.isArray(content)) return typeof content === "string" ? [content] : [];
  return content.flatMap((item): (string | undefined)[] => {
    if (typeof item === "string") return [item];
    if (item.type === "text") return [item.text];
    if (item.type === "search_result" && Array.isArray(item.content)) return item.content.map((inner) => (inner as Block).text);
    const isOpen = item.type === "document" && typeof item.source === "object" && item.source.type === "text" && item.citations?.enabled !== true;
    return isOpen ? [(item.source as { data?: string }).data] : [];
  }).filter((text) => text !== undefined);
}
