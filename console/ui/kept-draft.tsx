import { useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { draftKey, dropDraft, storeDraft, storedDraft } from '../api/drafts.ts';
import { developer } from '../api/session.ts';
import { t } from '../text/words.ts';
import { Button } from './button.tsx';

interface Props<T> {
  /** Tells forms of one address apart, such as a new record and the open one. */
  readonly name?: string;
  /** The current input. Must not contain passwords or secrets. */
  readonly draft: T;
  readonly isTouched: boolean;
  readonly onRestore: (draft: T) => void;
}

/** Keeps the input in this tab until it is saved or discarded, and offers it again after a reload or a sign-in. */
export const KeptDraft = <T,>({ name = '', draft, isTouched, onRestore }: Props<T>) => {
  const { path, query } = useLocation();
  const key = useMemo(() => {
    const { tab: _, ...place } = query;
    return draftKey(developer.peek()?._id ?? '', `${path}?${new URLSearchParams(place)}${name && `#${name}`}`);
  }, []);
  const offered = useSignal(useMemo(() => storedDraft(key) as T | undefined, [key]));
  const isStored = useRef(false);
  // Stored before the next frame, because the page may be left then.
  useLayoutEffect(() => {
    if (isTouched) {
      offered.value = undefined;
      storeDraft(key, draft);
    } else if (isStored.current) dropDraft(key);
    isStored.current = isTouched;
  }, [key, draft, isTouched, offered]);
  useLayoutEffect(
    () => () => {
      // Saved or discarded. If the session has ended, the draft is kept.
      if (developer.peek()) dropDraft(key);
    },
    [key],
  );
  const { value: earlier } = offered;
  if (earlier === undefined) return null;
  return (
    <div class="note row">
      <span>{t.keptDraft.text}</span>
      <Button onClick={() => onRestore(earlier)}>{t.keptDraft.restore}</Button>
      <Button
        kind="plain"
        onClick={() => {
          dropDraft(key);
          offered.value = undefined;
        }}
      >
        {t.keptDraft.discard}
      </Button>
    </div>
  );
};
