import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { t } from '../text/words.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

/** Whether a draft that is shown at one address is still there at another. */
type Keeps = (here: URL, to: URL) => boolean;

/** Of each draft that is shown: several forms of one page may have one. */
const drafts = signal<readonly Keeps[]>([]);
const asked = signal<(() => void) | undefined>(undefined);

/** Whether nothing is lost on the way. */
const isKept: Keeps = (here, to) => drafts.peek().every((keeps) => keeps(here, to));

/** Goes away from what is typed: at once where nothing would be lost, else if the reader says so. */
export const leaving = (go: () => void): void => {
  if (drafts.peek().length > 0) asked.value = go;
  else go();
};

/** Has the reader asked before what they typed is lost, as long as something is unsaved. */
export const useUnsaved = (unsaved: boolean, keeps: Keeps): void => {
  // What is typed is a draft at once: an effect would wait for the next frame, and Escape may come before it.
  useLayoutEffect(() => {
    if (!unsaved) return undefined;
    const own: Keeps = (here, to) => keeps(here, to);
    drafts.value = [...drafts.peek(), own];
    return () => {
      drafts.value = drafts.peek().filter((one) => one !== own);
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
    if (!present) return;
    const { url, route } = present;
    const to = new URL(location.href);
    if (isKept(new URL(url, location.origin), to)) return;
    event.stopImmediatePropagation();
    history.pushState(null, '', url);
    asked.value = () => route(below(to));
  });

/** Stands before links and the end of the page, and asks. */
export const UnsavedGuard = () => {
  const { url, route } = useLocation();
  present = { url, route };
  const isTyped = drafts.value.length > 0;
  useLayoutEffect(() => {
    if (!isTyped) return undefined;
    const here = new URL(url, location.origin);
    const onClick = (event: MouseEvent) => {
      const link = linkOf(event);
      if (!link || isKept(here, new URL(link.href))) return;
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
  }, [isTyped, url, route]);
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
            drafts.value = [];
            go();
          }}
        >
          {t.unsaved.discard}
        </Button>
      </div>
    </Dialog>
  );
};
