import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { t } from '../text/words.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

/** Whether a draft that is shown at one address is still there at another. */
type Keeps = (here: URL, to: URL) => boolean;

const draft = signal<Keeps | undefined>(undefined);
const asked = signal<(() => void) | undefined>(undefined);

/** Goes away from what is typed: at once where nothing would be lost, else if the reader says so. */
export const leaving = (go: () => void): void => {
  if (draft.peek()) asked.value = go;
  else go();
};

/** Has the reader asked before what they typed is lost, as long as something is unsaved. */
export const useUnsaved = (unsaved: boolean, keeps: Keeps): void => {
  // What is typed is a draft at once: an effect would wait for the next frame, and Escape may come before it.
  useLayoutEffect(() => {
    if (!unsaved) return undefined;
    draft.value = keeps;
    return () => {
      if (draft.peek() === keeps) draft.value = undefined;
    };
  }, [unsaved, keeps]);
};

const linkOf = (event: MouseEvent): HTMLAnchorElement | undefined => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0) return undefined;
  const link = event.composedPath().find((element) => element instanceof HTMLAnchorElement);
  return link && link.origin === location.origin && !link.target && !link.download ? link : undefined;
};

const below = ({ pathname, search }: Location | URL): string => pathname + search;

/** Where the console is, whatever the browser's own line says. */
let present: Pick<ReturnType<typeof useLocation>, 'url' | 'route'> | undefined;

/** Stands before the browser's ways back and forth; to be called before the router listens, who comes too late then. */
export const guardHistory = (): void =>
  addEventListener('popstate', (event) => {
    const keeps = draft.peek();
    if (!keeps || !present) return;
    const { url, route } = present;
    const to = new URL(location.href);
    if (keeps(new URL(url, location.origin), to)) return;
    event.stopImmediatePropagation();
    history.pushState(null, '', url);
    asked.value = () => route(below(to));
  });

/** Stands before links and the end of the page, and asks. */
export const UnsavedGuard = () => {
  const { url, route } = useLocation();
  present = { url, route };
  const keeps = draft.value;
  useLayoutEffect(() => {
    if (!keeps) return undefined;
    const here = new URL(url, location.origin);
    const onClick = (event: MouseEvent) => {
      const link = linkOf(event);
      if (!link || keeps(here, new URL(link.href))) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      asked.value = () => route(below(new URL(link.href)));
    };
    const onBeforeUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('click', onClick, true);
    addEventListener('beforeunload', onBeforeUnload);
    return () => {
      removeEventListener('click', onClick, true);
      removeEventListener('beforeunload', onBeforeUnload);
    };
  }, [keeps, url, route]);
  const go = asked.value;
  const stay = () => {
    asked.value = undefined;
  };
  if (!go) return null;
  return (
    <Dialog title={t.unsaved.title} onClose={stay}>
      <p>{t.unsaved.text}</p>
      <div class="row">
        <Button kind="main-act" onClick={stay}>
          {t.unsaved.stay}
        </Button>
        <Button
          kind="danger"
          onClick={() => {
            asked.value = undefined;
            draft.value = undefined;
            go();
          }}
        >
          {t.unsaved.discard}
        </Button>
      </div>
    </Dialog>
  );
};
