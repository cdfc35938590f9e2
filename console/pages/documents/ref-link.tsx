import { useSignal } from '@preact/signals';
import { useId, useRef } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso/router';
import { t } from '../../text/words.ts';
import { idIn, nameOf, refAddress } from './ref-address.ts';
import { RefPreview, RefTitle } from './ref-preview.tsx';
import { viewerOf } from './viewer.ts';

interface LinkProps {
  readonly collectionName: string;
  readonly id: string;
  /** The ids on the page that refer to the collection, which are read together; absent: only this one. */
  readonly ids?: readonly string[] | undefined;
}

/** The title of a referenced document and a link to it; nothing if the text is not an id. */
export const RefLink = ({ collectionName, id: text, ids }: LinkProps) => {
  const { projectId = '' } = useRoute().params;
  const viewer = viewerOf(useLocation().query);
  const id = idIn(text);
  return id === undefined ? null : (
    <>
      <RefTitle {...{ projectId, collectionName, id }} ids={ids ?? [id]} otherwise={null} />{' '}
      <a class="small" href={refAddress(projectId, collectionName, id, viewer)}>
        {t.documents.openRef(collectionName)}
      </a>
    </>
  );
};

/** The pointer rests so long on a reference before its document is shown. */
const restMs = 300;

interface RefProps {
  readonly collectionName: string;
  readonly value: unknown;
  /** The ids of all cells that refer to the collection, which are read together. */
  readonly ids: readonly string[];
}

/** The title of a reference's document, otherwise the id. */
export const RefName = ({ collectionName, value, ids }: RefProps) => {
  const { projectId = '' } = useRoute().params;
  const id = idIn(value);
  if (id === undefined) return null;
  if (typeof value === 'object' && value !== null) return <>{nameOf(value)}</>;
  return <RefTitle {...{ projectId, collectionName, id, ids }} />;
};

/** A reference as a link: the title of its document, or an arrow if `short`. Pointer and focus show a preview. */
export const RefCell = ({ short, ...props }: RefProps & { readonly short?: true }) => {
  const { collectionName, value } = props;
  const { projectId = '' } = useRoute().params;
  const viewer = viewerOf(useLocation().query);
  const name = useId();
  const link = useRef<HTMLAnchorElement>(null);
  const shown = useSignal(false);
  const resting = useRef<ReturnType<typeof setTimeout>>(undefined);
  const id = idIn(value);
  if (id === undefined) return null;
  const begin = () => {
    clearTimeout(resting.current);
    resting.current = setTimeout(() => {
      shown.value = link.current?.isConnected === true;
    }, restMs);
  };
  const end = () => {
    clearTimeout(resting.current);
    shown.value = false;
  };
  const target = { projectId, collectionName, id };
  return (
    <>
      <a
        ref={link}
        href={refAddress(projectId, collectionName, id, viewer)}
        aria-label={short && t.documents.openRef(collectionName)}
        aria-describedby={shown.value ? name : undefined}
        onPointerEnter={begin}
        onPointerLeave={end}
        onFocus={begin}
        onBlur={end}
        onKeyDown={({ key }) => {
          if (key === 'Escape') end();
        }}
      >
        {short ? '↗' : <RefName {...props} />}
      </a>
      {shown.value && link.current && <RefPreview {...target} of={link.current} name={name} />}
    </>
  );
};
