/** One that the page surely has. */
export const element = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;
