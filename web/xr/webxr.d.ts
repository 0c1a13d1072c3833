/// <reference types="webxr" />
