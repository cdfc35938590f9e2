import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../text/words.ts';
import { Button } from './button.tsx';
import { wayBack } from './focus.ts';

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  /** For tables and code. */
  readonly wide?: true;
  readonly children: ComponentChildren;
}

/** A modal dialog. Escape closes it and returns the focus. */
export const Dialog = ({ title, onClose, wide, children }: Props) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const gone = useRef(false);
  // Must run before paint: a dialog that becomes modal later takes the focus from the field being typed in.
  useLayoutEffect(() => {
    const [shown, before] = [dialog.current, wayBack(document.activeElement)];
    shown?.showModal();
    return () => {
      gone.current = true;
      shown?.close();
      // A dialog that is removed before it is closed does not return the focus, and never returns it to a hidden
      // element.
      const { activeElement } = document;
      if (activeElement === document.body || shown?.contains(activeElement)) before?.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={wide ? 'dialog stack wide' : 'dialog stack'}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={() => {
        if (gone.current) return;
        // Browsers close a dialog at the second Escape in a row, without asking the page.
        dialog.current?.showModal();
        onClose();
      }}
    >
      <h1>{title}</h1>
      {children}
    </dialog>
  );
};

/** Shows something once, such as a secret. Neither Escape nor a reload closes it before it is confirmed. */
export const OnceDialog = ({
  kept,
  onKept,
  ...dialog
}: Omit<Props, 'onClose'> & { readonly kept: string; readonly onKept: () => void }) => {
  const refused = useSignal(false);
  useEffect(() => {
    const onBeforeUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', onBeforeUnload);
    return () => removeEventListener('beforeunload', onBeforeUnload);
  }, []);
  return (
    <Dialog
      title={dialog.title}
      onClose={() => {
        refused.value = true;
      }}
    >
      {dialog.children}
      {refused.value && (
        <p class="note" role="alert">
          {t.acts.confirmKept(kept)}
        </p>
      )}
      <div class="row">
        <Button kind="main-act" onClick={onKept}>
          {kept}
        </Button>
      </div>
    </Dialog>
  );
};
