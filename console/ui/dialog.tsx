import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../text/words.ts';
import { Button } from './button.tsx';
import { wayBack } from './focus.ts';

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A question that comes first. Escape closes it, and the focus goes back to where it was. */
export const Dialog = ({ title, onClose, children }: Props) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const gone = useRef(false);
  // Before it is in sight: one that turns modal later takes the focus away from the field that is typed into.
  useLayoutEffect(() => {
    const [shown, before] = [dialog.current, wayBack(document.activeElement)];
    shown?.showModal();
    return () => {
      gone.current = true;
      shown?.close();
      // One that is taken out of the page before it is closed gives nothing back by itself, nor to what is out of
      // sight.
      const { activeElement } = document;
      if (activeElement === document.body || shown?.contains(activeElement)) before?.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class="dialog stack"
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={() => {
        if (gone.current) return;
        // A second Escape in a row closes it whatever the page says, which may have to ask first.
        dialog.current?.showModal();
        onClose();
      }}
    >
      <h1>{title}</h1>
      {children}
    </dialog>
  );
};

/** What is shown only once, such as a secret. Neither Escape nor a reload takes it away before *kept* is chosen. */
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
