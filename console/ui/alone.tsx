import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { Brand } from './brand.tsx';
import { useTitle } from './use-title.ts';

/** True inside the frame, which has the main part of the page and the brand itself. */
export const Framed = createContext(false);

/** A page that needs nobody to be signed in: without the frame, or in its middle. */
export const Alone = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => {
  useTitle(title);
  const isFramed = useContext(Framed);
  const Main = isFramed ? 'div' : 'main';
  return (
    <div class="alone">
      <Main class="card stack">
        {!isFramed && <Brand />}
        <h1>{title}</h1>
        {children}
      </Main>
    </div>
  );
};
