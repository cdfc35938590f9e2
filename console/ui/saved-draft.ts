import { type Signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';

/** A value of a draft that a control edits. */
export type Part<T> = Pick<Signal<T>, 'value' | 'peek'>;

interface Options<T> {
  /** Equal for equal drafts. */
  readonly textOf?: (draft: T) => string;
  /** An edited draft after another state was saved. */
  readonly rebase?: (draft: T, saved: T) => T;
}

/**
 * The draft of saved values. What is edited while they are being saved, here or on another page, stays and is compared
 * with the newly saved values.
 */
export const useSavedDraft = <T>(
  present: T,
  { textOf = JSON.stringify, rebase = (draft) => draft }: Options<T> = {},
) => {
  const saved = useSignal(present);
  const draft = useSignal(present);
  const sending = useRef<T | undefined>(undefined);
  const isSame = (one: T, other: T): boolean => textOf(one) === textOf(other);
  // Compared at this moment: an edit may be newer than the last render.
  const adopt = (next: T): void => {
    const before = sending.current ?? saved.peek();
    draft.value = isSame(draft.peek(), before) ? next : rebase(draft.peek(), next);
    saved.value = next;
  };
  const text = useMemo(() => textOf(present), [present]);
  useLayoutEffect(() => {
    if (text !== textOf(saved.peek())) adopt(present);
  }, [text]);
  /** Sends the draft. `send` returns the values as the service saved them. */
  const save = async (send: (sent: T) => Promise<T>): Promise<void> => {
    const sent = draft.peek();
    sending.current = sent;
    try {
      adopt(await send(sent));
    } finally {
      sending.current = undefined;
    }
  };
  return { draft, saved: saved.value, isChanged: !isSame(draft.value, saved.value), save };
};
